// SPDX-License-Identifier: BSL-1.0
#include "tests/ring/machines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <qkv/core/partial_sum.hpp>
#include <stdexcept>

#include "codegen/program/queries.hpp"

namespace qkv::testing {

using codegen::array;
using codegen::arrays;
using codegen::axis_id;
using codegen::node;
using codegen::node_id;
using codegen::program;
using codegen::size_map;

namespace {

std::vector<run> cut(const std::vector<std::int64_t> &ends, std::int64_t n) {
  std::vector<run> all;
  std::int64_t first = 0;
  for (std::int64_t end : ends) {
    end = std::clamp(end, first, n);
    all.push_back({first, end - first});
    first = end;
  }
  return all;
}

std::vector<std::int64_t> even_ends(int parts, std::int64_t n) {
  std::vector<std::int64_t> ends;
  for (int k = 1; k <= parts; ++k) ends.push_back(n * k / parts);
  return ends;
}

struct named : named_array {
  int place(const std::string &axis) const {
    const auto at = std::find(axes.begin(), axes.end(), axis);
    return at == axes.end() ? -1 : static_cast<int>(at - axes.begin());
  }
  // Copies a run along an axis from another tensor, or into it.
  template <class Move>
  void walk(int d, std::int64_t first, std::int64_t n, const Move &move) {
    std::int64_t outer = 1, inner = 1;
    for (int k = 0; k < d; ++k) outer *= a.shape[static_cast<std::size_t>(k)];
    for (std::size_t k = static_cast<std::size_t>(d) + 1; k < a.shape.size(); ++k)
      inner *= a.shape[k];
    const std::int64_t extent = a.shape[static_cast<std::size_t>(d)];
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t i = 0; i < inner; ++i)
          move(a.data[static_cast<std::size_t>((o * extent + first + k) * inner + i)],
               static_cast<std::size_t>((o * n + k) * inner + i));
  }
  named part(int d, std::int64_t first, std::int64_t n) {
    named made{{{a.shape, {}}, axes}};
    made.a.shape[static_cast<std::size_t>(d)] = n;
    std::size_t all = 1;
    for (std::int64_t e : made.a.shape) all *= static_cast<std::size_t>(e);
    made.a.data.resize(all);
    walk(d, first, n, [&](double &from, std::size_t to) { made.a.data[to] = from; });
    return made;
  }
  void put(int d, std::int64_t first, const array &x) {
    walk(d, first, x.shape[static_cast<std::size_t>(d)],
         [&](double &to, std::size_t from) { to = x.data[from]; });
  }
};

std::int64_t total(const std::vector<run> &runs) {
  std::int64_t n = 0;
  for (const run &r : runs) n += r.n;
  return n;
}

named gathered(named whole, int d, const std::vector<run> &runs) {
  named made = whole.part(d, 0, total(runs));
  std::int64_t at = 0;
  for (const run &r : runs) {
    made.put(d, at, whole.part(d, r.first, r.n).a);
    at += r.n;
  }
  return made;
}

// Where a run begins among those of its machine.
std::int64_t offset(const std::vector<run> &runs, std::size_t k) {
  return total({runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(k)});
}

using tensors = std::map<std::string, named>;

double joined(core::joining how, double a, double b) {
  if (how == core::joining::sum) return a + b;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (how == core::joining::most) return std::max(a, b);
  if (how == core::joining::least) return std::min(a, b);
  const double most = std::max(a, b);
  return std::isinf(most) ? most : most + std::log(std::exp(a - most) + std::exp(b - most));
}

// Adds a sum over some tokens to those of others.
void join(tensors &all, const std::string &name, const named &x) {
  const auto [at, is_new] = all.try_emplace(name, x);
  if (is_new) return;
  for (std::size_t k = 0; k < x.a.data.size(); ++k) {
    double &to = at->second.a.data[k];
    to = joined(*core::joining_of(name), to, x.a.data[k]);
  }
}

class simulation {
 public:
  simulation(const codegen::shares &s, const std::string &query, const std::string &key,
             const std::vector<tokens> &all, const size_map &sizes)
      : shares_(s), query_(query), key_(key), all_(all), sizes_(sizes), own_(all.size()) {}

  void give(const std::string &name, const named &whole) {
    for (std::size_t m = 0; m < all_.size(); ++m)
      own_[m][name] = named{part_of_machine(whole, query_, key_, all_[m])};
  }

  void run_all() {
    for (std::size_t k = 0; k < shares_.own.size(); ++k) {
      totals_.clear();
      for (std::size_t m = 0; m < all_.size(); ++m) own(shares_.own[k], m);
      if (k < shares_.hops.size()) round(shares_.hops[k], shares_.merges[k], shares_.seen[k]);
      for (const auto &[name, x] : totals_)
        for (tensors &mine : own_) mine[name] = x;
    }
  }

  named result(const program &p, const node &output) {
    named whole{};
    std::size_t n = 1;
    for (axis_id a : output.shape) {
      whole.axes.push_back(p.axes[a].name);
      whole.a.shape.push_back(size_of(p, a));
      n *= static_cast<std::size_t>(whole.a.shape.back());
    }
    whole.a.data.resize(n, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t m = 0; m < all_.size(); ++m) {
      named &mine = own_[m].at(output.name);
      put_part(whole, mine, query_, key_, all_[m]);
    }
    return whole;
  }

 private:
  std::int64_t size_of(const program &p, axis_id a) const {
    const codegen::axis &root = p.axes[p.axes[a].root];
    return root.size >= 0 ? root.size : sizes_.at(p.axes[a].name);
  }
  static bool is_run_time(const program &p, const std::string &name) {
    return std::any_of(p.axes.begin(), p.axes.end(),
                       [&](const codegen::axis &a) { return a.name == name && a.size < 0; });
  }

  size_map sizes_with(const program &p, std::int64_t queries, std::int64_t keys) const {
    size_map s = sizes_;
    for (const auto &[name, n] : {std::pair{query_, queries}, {key_, keys}})
      if (is_run_time(p, name)) s[name] = n;
    return s;
  }

  array scalar(std::int64_t x) const { return {{}, {static_cast<double>(x)}}; }

  // The arguments of a call: run q of the queries, and run k of the keys of machine `of`.
  arrays arguments(const program &p, std::size_t m, std::size_t q, std::size_t of, std::size_t k,
                   const tensors &states) {
    arrays in;
    const run queries = all_[m].queries[q], keys = all_[of].keys[k];
    for (node_id n : p.arguments) {
      const std::string &name = p[n].name;
      if (name == "first_" + query_) {
        in[name] = scalar(queries.first);
      } else if (name == "first_" + key_) {
        in[name] = scalar(keys.first);
      } else if (name == "whole_" + query_ || name == "whole_" + key_) {
        const bool of_query = name == "whole_" + query_;
        std::int64_t all = 0;
        for (const tokens &t : all_) all += total(of_query ? t.queries : t.keys);
        in[name] = scalar(all);
      } else if (name.starts_with("first_") && !own_[m].count(name)) {
        in[name] = scalar(0);
      } else if (name.starts_with("whole_") && !own_[m].count(name)) {
        in[name] = scalar(sizes_.at(name.substr(6)));
      } else if (const auto state = states.find(name); state != states.end()) {
        in[name] = state->second.a;
      } else {
        in[name] = slice(name, m, q, of, k).a;
      }
    }
    return in;
  }

  named slice(const std::string &name, std::size_t m, std::size_t q, std::size_t of,
              std::size_t k) {
    const named &any = own_[m].at(name);
    const int of_query = any.place(query_), of_key = any.place(key_);
    named x = of_key >= 0 && of_query < 0 ? own_[of].at(name) : any;
    if (of_query >= 0) x = x.part(of_query, offset(all_[m].queries, q), all_[m].queries[q].n);
    if (of_key < 0) return x;
    const run keys = all_[of].keys[k];
    return x.part(of_key, of_query >= 0 ? keys.first : offset(all_[of].keys, k), keys.n);
  }

  static named named_of(const program &p, node_id n, const arrays &results) {
    std::vector<std::string> axes;
    for (axis_id a : p[n].shape) axes.push_back(p.axes[a].name);
    return {{results.at(p[n].name), axes}};
  }

  // The result of a run; sums over tokens join those of others.
  void keep(std::size_t m, std::size_t r, const std::string &name, const named &x) {
    const int q = x.place(query_), d = q >= 0 ? q : x.place(key_);
    if (d < 0 && core::joining_of(name)) return join(totals_, name, x);
    named &mine = own_[m][name];
    if (d < 0) {
      if (r > 0 && mine.a.data != x.a.data) throw std::runtime_error(name + " differs");
      mine = x;
      return;
    }
    const std::vector<run> &runs = q >= 0 ? all_[m].queries : all_[m].keys;
    if (r == 0) {
      mine = x;
      mine.a.shape[static_cast<std::size_t>(d)] = total(runs);
      std::size_t all = 1;
      for (std::int64_t e : mine.a.shape) all *= static_cast<std::size_t>(e);
      mine.a.data.assign(all, 0);
    }
    mine.put(d, offset(runs, r), x.a);
  }

  void own(const program &p, std::size_t m) {
    for (std::size_t r = 0; r < all_[m].queries.size(); ++r) {
      const arrays in = arguments(p, m, r, m, r, {}),
                   results = codegen::interpret(
                       p, in, sizes_with(p, all_[m].queries[r].n, all_[m].keys[r].n));
      for (node_id n : p.outputs) keep(m, r, p[n].name, named_of(p, n, results));
    }
  }

  // Half of the keys after the other, and then both states in one.
  void round(const program &p, const program &merge, const program &seen) {
    const std::size_t machines = all_.size();
    std::vector<tensors> of_keys(machines);  // by machine and run, as sum12#run
    for (std::size_t m = 0; m < machines; ++m)
      for (std::size_t q = 0; q < all_[m].queries.size(); ++q) {
        tensors half[2] = {beginning(p, all_[m].queries[q].n), beginning(p, all_[m].queries[q].n)};
        const std::size_t halves = merge.outputs.empty() ? 1 : 2;
        for (std::size_t h = 0; h < machines; ++h) {
          const std::size_t of = (m + machines - h) % machines;
          for (std::size_t k = 0; k < all_[of].keys.size(); ++k) {
            tensors before, &now = half[h % halves];
            for (const auto &[name, x] : now) before["before_" + name] = x;
            if (!is_seen(seen, m, q, of, k)) {
              for (node_id n : p.outputs)
                if (named x = beginning(p, n, all_[m].queries[q].n, all_[of].keys[k].n);
                    !now.count(p[n].name))
                  join_run(of_keys[of], p[n].name, k, x);
              continue;
            }
            const arrays results =
                in_halves(p, arguments(p, m, q, of, k, before),
                          sizes_with(p, all_[m].queries[q].n, all_[of].keys[k].n));
            for (node_id n : p.outputs) {
              const named x = named_of(p, n, results);
              if (now.count(p[n].name))
                now[p[n].name] = x;
              else if (x.place(query_) >= 0)
                keep_pairs(m, q, all_[of].keys[k], p[n].name, x);
              else
                join_run(of_keys[of], p[n].name, k, x);
            }
          }
        }
        if (halves == 2) merged(merge, all_[m].queries[q].n, half);
        for (const auto &[name, x] : half[0]) keep(m, q, name, x);
      }
    for (std::size_t m = 0; m < machines; ++m)
      for (node_id n : p.outputs)
        for (std::size_t k = 0; k < all_[m].keys.size(); ++k)
          if (const auto at = of_keys[m].find(run_name(p[n].name, k)); at != of_keys[m].end())
            keep(m, k, p[n].name, at->second);
  }

  // The axes that a hop may be divided along beside its tokens: how many positions of each belong
  // to one of the first.
  std::map<std::string, std::int64_t> divided(const program &p, const size_map &sizes) const {
    std::map<std::string, std::int64_t> all;
    for (node_id n : p.arguments) {
      const std::string axis = p[n].name.starts_with("first_") ? p[n].name.substr(6) : "";
      const auto at = std::find_if(p.axes.begin(), p.axes.end(),
                                   [&](const codegen::axis &a) { return a.name == axis; });
      if (axis == query_ || axis == key_ || at == p.axes.end()) continue;
      const auto a = static_cast<axis_id>(at - p.axes.begin());
      if (!std::all_of(p.outputs.begin(), p.outputs.end(),
                       [&](node_id o) { return codegen::has(p[o].shape, a); }))
        continue;
      all[axis] = 1;
      for (const node &x : p.nodes)
        if (x.kind == codegen::op::split && x.over[1] == a) {
          const codegen::axis &inner = p.axes[x.over[2]];
          all[p.axes[x.over[0]].name] = inner.size >= 0 ? inner.size : sizes.at(inner.name);
        }
      return all;
    }
    return all;
  }

  // The results of a hop for the first half of its heads, and for the other one.
  arrays in_halves(const program &p, const arrays &in, const size_map &sizes) const {
    const std::map<std::string, std::int64_t> axes = divided(p, sizes);
    const auto first = std::find_if(axes.begin(), axes.end(), [&](const auto &a) {
      return a.second == 1 && sizes.count(a.first) && sizes.at(a.first) > 1;
    });
    if (first == axes.end()) return codegen::interpret(p, in, sizes);
    const std::int64_t all = sizes.at(first->first), middle = (all + 1) / 2;
    std::map<std::string, named> whole;
    for (const run &half : {run{0, middle}, run{middle, all - middle}}) {
      arrays mine = in;
      size_map its = sizes;
      const auto of_axis = [&](const named &x) {
        return std::find_if(axes.begin(), axes.end(),
                            [&](const auto &a) { return x.place(a.first) >= 0; });
      };
      for (const auto &[axis, times] : axes) {
        its[axis] = half.n * times;
        if (mine.count("first_" + axis)) mine["first_" + axis] = scalar(half.first * times);
      }
      for (node_id n : p.arguments) {
        named x = named_of(p, n, in);
        if (const auto a = of_axis(x); a != axes.end())
          mine[p[n].name] = x.part(x.place(a->first), half.first * a->second, half.n * a->second).a;
      }
      const arrays results = codegen::interpret(p, mine, its);
      for (node_id n : p.outputs) {
        const named x = named_of(p, n, results);
        const int d = x.place(first->first);
        named &to = whole[p[n].name];
        if (half.first == 0) {
          to = x;
          to.a.shape[static_cast<std::size_t>(d)] = all;
          to.a.data.assign(
              x.a.data.size() / static_cast<std::size_t>(middle) * static_cast<std::size_t>(all),
              std::nan(""));
        }
        to.put(d, half.first, x.a);
      }
    }
    arrays results;
    for (const auto &[name, x] : whole) results[name] = x.a;
    return results;
  }

  // False where the hop would change nothing.
  bool is_seen(const program &p, std::size_t m, std::size_t q, std::size_t of, std::size_t k) {
    if (p.outputs.empty()) return true;
    const arrays results = codegen::interpret(
        p, arguments(p, m, q, of, k, {}), sizes_with(p, all_[m].queries[q].n, all_[of].keys[k].n));
    return results.at("seen_pairs").data[0] > 0;
  }

  // A machine has its queries with all keys.
  void keep_pairs(std::size_t m, std::size_t q, const run &keys, const std::string &name, named x) {
    const int of_query = x.place(query_), of_key = x.place(key_);
    std::int64_t all_keys = 0;
    for (const tokens &t : all_) all_keys += total(t.keys);
    named &mine = own_[m][name];
    if (mine.axes.empty()) {
      mine = x.part(of_query, 0, 0);
      mine.a.shape[static_cast<std::size_t>(of_query)] = total(all_[m].queries);
      mine.a.shape[static_cast<std::size_t>(of_key)] = all_keys;
      std::size_t all = 1;
      for (std::int64_t e : mine.a.shape) all *= static_cast<std::size_t>(e);
      mine.a.data.assign(all, std::nan(""));
    }
    named rows = mine.part(of_query, offset(all_[m].queries, q), all_[m].queries[q].n);
    rows.put(of_key, keys.first, x.a);
    mine.put(of_query, offset(all_[m].queries, q), rows.a);
  }

  static std::string run_name(const std::string &name, std::size_t k) {
    return name + "#" + std::to_string(k);
  }
  static void join_run(tensors &all, const std::string &name, std::size_t k, const named &x) {
    tensors one;
    if (const auto at = all.find(run_name(name, k)); at != all.end()) one[name] = at->second;
    join(one, name, x);
    all[run_name(name, k)] = one[name];
  }

  void merged(const program &p, std::int64_t queries, tensors half[2]) const {
    arrays in;
    for (const auto &[name, x] : half[0]) in["before_" + name] = x.a;
    for (const auto &[name, x] : half[1]) {
      in["with_" + name] = x.a;
      if (x.place(query_) < 0) join(half[0], name, x);
    }
    const arrays results = codegen::interpret(p, in, sizes_with(p, queries, 0));
    for (node_id n : p.outputs) half[0][p[n].name] = named_of(p, n, results);
  }

  // The states that a hop continues.
  tensors beginning(const program &p, std::int64_t queries) const {
    tensors states;
    for (node_id n : p.outputs) {
      const named x = beginning(p, n, queries, 0);
      if (x.place(key_) < 0) states[p[n].name] = x;
    }
    return states;
  }

  // A sum over no token; 0 for other results.
  named beginning(const program &p, node_id n, std::int64_t queries, std::int64_t keys) const {
    named x;
    std::size_t all = 1;
    for (axis_id d : p[n].shape) {
      const std::string &axis = p.axes[d].name;
      x.axes.push_back(axis);
      x.a.shape.push_back(axis == query_ ? queries : axis == key_ ? keys : size_of(p, d));
      all *= static_cast<std::size_t>(x.a.shape.back());
    }
    x.a.data.assign(all,
                    core::beginning_of(core::joining_of(p[n].name).value_or(core::joining::sum)));
    return x;
  }

  const codegen::shares &shares_;
  const std::string query_, key_;
  const std::vector<tokens> &all_;
  const size_map &sizes_;
  std::vector<tensors> own_;
  tensors totals_;
};

}  // namespace

named_array part_of_machine(const named_array &whole, const std::string &query,
                            const std::string &key, const tokens &own) {
  const named all{whole};
  const int q = all.place(query), k = all.place(key);
  if (q >= 0) return gathered(all, q, own.queries);
  return k >= 0 ? gathered(all, k, own.keys) : all;
}

void put_part(named_array &whole, const named_array &part, const std::string &query,
              const std::string &key, const tokens &own) {
  named to{whole}, from{part};
  const int q = to.place(query), d = q >= 0 ? q : to.place(key);
  if (d < 0) {
    whole = part;
    return;
  }
  const std::vector<run> &runs = q >= 0 ? own.queries : own.keys;
  for (std::size_t r = 0; r < runs.size(); ++r)
    to.put(d, runs[r].first, from.part(d, offset(runs, r), runs[r].n).a);
  whole = to;
}

std::vector<tokens> contiguous(int machines, std::int64_t n, std::int64_t m) {
  const std::vector<run> q = cut(even_ends(machines, n), n), k = cut(even_ends(machines, m), m);
  std::vector<tokens> all;
  for (std::size_t r = 0; r < q.size(); ++r) all.push_back({{q[r]}, {k[r]}});
  return all;
}

std::vector<tokens> zigzag(int machines, std::int64_t n, std::int64_t m) {
  const std::vector<run> q = cut(even_ends(2 * machines, n), n),
                         k = cut(even_ends(2 * machines, m), m);
  std::vector<tokens> all;
  for (std::size_t r = 0; r < q.size() / 2; ++r)
    all.push_back({{q[r], q[q.size() - 1 - r]}, {k[r], k[k.size() - 1 - r]}});
  return all;
}

std::vector<tokens> unequal(int machines, std::int64_t n, std::int64_t m) {
  std::vector<std::int64_t> q, k;
  for (int r = 1; r <= machines; ++r) {
    const bool last = r == machines;
    q.push_back(last ? n : r * (r - 1) / 2);
    k.push_back(last ? m : r);
  }
  const std::vector<run> queries = cut(q, n), keys = cut(k, m);
  std::vector<tokens> all;
  for (std::size_t r = 0; r < queries.size(); ++r) all.push_back({{queries[r]}, {keys[r]}});
  return all;
}

arrays results_of_machines(const program &p, const codegen::shares &s, const std::string &query,
                           const std::string &key, const std::vector<tokens> &all,
                           const arrays &arguments, const size_map &sizes) {
  size_map by_name = sizes;
  for (const codegen::axis &a : p.axes) {
    const codegen::axis &root = p.axes[a.root];
    by_name[a.name] = root.size < 0 ? sizes.at(root.name) : root.size;
  }
  simulation machines(s, query, key, all, by_name);
  for (node_id n : p.arguments) {
    std::vector<std::string> axes;
    for (axis_id a : p[n].shape) axes.push_back(p.axes[a].name);
    machines.give(p[n].name, {{arguments.at(p[n].name), axes}});
  }
  machines.run_all();
  arrays results;
  for (node_id n : p.outputs) results[p[n].name] = machines.result(p, p[n]).a;
  return results;
}

}  // namespace qkv::testing
