// SPDX-License-Identifier: BSL-1.0
// Formulas of losses that are slips, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {

namespace {

constexpr axis<"user"> user;
constexpr axis<"item"> item;
constexpr axis<"vocab", 40> vocab;

template <auto Power>
std::string of_focal() {
  return slips_in(kernel<"k">([](in<"x", seq, d8> x, in<"y", seq, d8> y) -> out<"loss", seq, d8> {
    auto p = sigmoid(x);
    auto right = y * p + (1 - y) * (1 - p);
    return 0.25 * Power(right) * (softplus(x) - x * y);
  }));
}

template <auto Positive>
std::string of_correction() {
  return slips_in(kernel<"k">(
      [](in<"U", user, d8> U, in<"I", item, d8> I, in<"log_q", item> log_q) -> out<"loss"> {
        auto positive = sum<d8>(U * rename<item, user>(I));
        return mean<user>(logsumexp<item>(dot<d8>(U, I) - log_q) -
                          Positive(positive, rename<item, user>(log_q)));
      }));
}

template <auto Hard>
std::string of_labels() {
  return slips_in(
      kernel<"k">([](in<"s", seq, vocab> s, in<"ids", i32, seq> ids) -> out<"loss", seq> {
        return Hard(s, take<vocab>(s, ids));
      }));
}

}  // namespace

TEST_CASE("a focal loss weighs what is not sure") {
  CHECK(mentions(of_focal<[](auto p) { return pow(p, 2); }>(),
                 "weighs most what is sure already; did you mean the power of 1 less"));
  CHECK(of_focal<[](auto p) { return pow(1 - p, 2); }>() == "");
}

TEST_CASE("a correction has one sign in both terms") {
  CHECK(mentions(of_correction<[](auto x, auto q) { return x + q; }>(), "with opposite signs"));
  CHECK(of_correction<[](auto x, auto q) { return x - q; }>() == "");
}

TEST_CASE("labels that are smoothed scale one term alone") {
  CHECK(mentions(of_labels<[](auto s, auto own) { return logsumexp<vocab>(s) - own * 0.9; }>(),
                 "scales s by 0.9 in one term alone"));
  CHECK(of_labels<[](auto s, auto own) {
          return logsumexp<vocab>(s) - own * 0.9 - mean<vocab>(s) * 0.1;
        }>() == "");
}

TEST_CASE("a ratio is bounded around 1, and a union counts what is common once") {
  const auto of = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"a", seq> a, in<"b", seq> b, in<"w", seq> w,
                       in<"h", seq> h) -> out<"Y", seq> { return decltype(f){}(a, b, w, h); }));
  };
  CHECK(mentions(of([](auto a, auto b, auto w, auto) {
                   return min(exp(a - b) * w, min(max(exp(a - b), 0.2), 1.2) * w);
                 }),
                 "bounds a ratio by 0.2 and 1.2"));
  CHECK(of([](auto a, auto b, auto w, auto) {
          return min(exp(a - b) * w, min(max(exp(a - b), 0.8), 1.2) * w);
        }) == "");
  CHECK(mentions(
      of([](auto a, auto b, auto w, auto h) { return max(w, 0) * max(h, 0) / (a * a + b * b); }),
      "twice in the divisor"));
  CHECK(of([](auto a, auto b, auto w, auto h) {
          auto common = max(w, 0) * max(h, 0);
          return common / (a * a + b * b - common);
        }) == "");
}

TEST_CASE("a loss of log(1 - D) is minimised as it is") {
  CHECK(slips_in(kernel<"k">(
            [](in<"D", seq> D) -> out<"loss"> { return mean<seq>(log(1 - sigmoid(D))); })) == "");
}

namespace {

// The slips of a result named mse of an error for each row.
template <auto Formula>
std::string of_error() {
  return slips_in(
      kernel<"k">([](in<"guess", seq, d8> guess, in<"actual", seq, d8> actual) -> out<"mse"> {
        return Formula(guess - actual);
      }));
}

// The slips of a triplet loss of Distance.
template <auto Distance, auto Formula>
std::string of_triplet() {
  return slips_in(kernel<"k">([](in<"anchor", seq, d8> anchor, in<"positive", seq, d8> positive,
                                 in<"negative", seq, d8> negative) -> out<"loss"> {
    return mean<seq>(relu(Formula(Distance(anchor, positive), Distance(anchor, negative))));
  }));
}
constexpr auto squares = [](auto x, auto y) { return sum<d8>((x - y) * (x - y)); };
constexpr auto length = [](auto x, auto y) { return sqrt(sum<d8>((x - y) * (x - y)) + 1e-12); };
constexpr auto cosine = [](auto x, auto y) {
  return sum<d8>(unit_length<d8>(x) * unit_length<d8>(y));
};
constexpr auto margin = [](auto near, auto far) { return near - far + 0.2; };
constexpr auto exchanged = [](auto near, auto far) { return far - near + 0.2; };
constexpr auto margin_first = [](auto near, auto far) { return 0.2 - far + near; };
constexpr auto exchanged_first = [](auto near, auto far) { return 0.2 - near + far; };

}  // namespace

TEST_CASE("a mean of squares is no square of a mean") {
  CHECK(mentions(of_error<[](auto e) { return mean<seq, d8>(e) * mean<seq, d8>(e); }>(),
                 "is the square of the mean of"));
  CHECK(mentions(of_error<[](auto e) { return 0.5 * pow(mean<seq, d8>(e), 2); }>(),
                 "did you mean the mean of its square?"));
  CHECK(of_error<[](auto e) { return mean<seq, d8>(e * e); }>() == "");
  // the mean error of each row, a sum of variance and bias, a sum over the ensemble
  CHECK(of_error<[](auto e) { return mean<seq>(mean<d8>(e) * mean<d8>(e)); }>() == "");
  CHECK(of_error<[](auto e) {
          auto bias = mean<seq, d8>(e);
          return mean<seq, d8>((e - bias) * (e - bias)) + bias * bias;
        }>() == "");
  CHECK(of_error<[](auto e) {
          return let<"bias">(mean<seq, d8>(e)) * let<"bias">(mean<seq, d8>(e));
        }>() == "");
  CHECK(slips_in(kernel<"k">([](in<"e", seq> e) -> out<"bias_squared"> {
          return mean<seq>(e) * mean<seq>(e);
        })) == "");
}

TEST_CASE("a triplet loss takes the distance of the negative off") {
  CHECK(mentions(of_triplet<squares, exchanged>(), "is small where the negative is near"));
  CHECK(mentions(of_triplet<length, exchanged>(), "is small where the negative is near"));
  CHECK(mentions(of_triplet<length, exchanged_first>(), "is small where the negative is near"));
  CHECK(mentions(of_triplet<cosine, margin>(), "is small where the negative is near"));
  CHECK(mentions(of_triplet<cosine, margin_first>(), "is small where the negative is near"));
  CHECK(of_triplet<squares, margin>() == "");
  CHECK(of_triplet<length, margin_first>() == "");
  CHECK(of_triplet<cosine, exchanged>() == "");
  CHECK(of_triplet<[](auto x, auto y) { return 1 - cosine(x, y); }, margin>() == "");
  CHECK(of_triplet<squares, [](auto near, auto far) { return near + relu(1 - far); }>() == "");
  CHECK(of_triplet<squares, [](auto near, auto far) { return 0.2 - (far - near); }>() == "");
}

TEST_CASE("a temperature divides in both terms of a loss") {
  const auto of = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"A", user, d8> A, in<"B", item, d8> B, in<"t"> t) -> out<"loss"> {
          auto a = unit_length<d8>(A);
          auto own = sum<d8>(a * rename<item, user>(unit_length<d8>(B)));
          return mean<user>(decltype(f){}(dot<d8>(a, unit_length<d8>(B)), own, t));
        }));
  };
  const std::string both = "multiplies by t in one term and divides by it in the other";
  CHECK(mentions(of([](auto s, auto own, auto t) { return logsumexp<item>(s * t) - own / t; }),
                 both));
  CHECK(mentions(of([](auto s, auto own, auto t) { return logsumexp<item>(s / t) - own * t; }),
                 both));
  CHECK(of([](auto s, auto own, auto t) { return logsumexp<item>(s / t) - own / t; }) == "");
  CHECK(of([](auto s, auto own, auto t) { return logsumexp<item>(s * t) - own * t; }) == "");
  CHECK(of([](auto s, auto own, auto t) { return logsumexp<item>(t * s) / t - own; }) == "");
}

TEST_CASE("what was rejected is taken off the margin") {
  constexpr auto preferred = [](auto f) {
    return slips_in(kernel<"k">([](in<"policy_chosen", user> pc, in<"policy_rejected", user> pr,
                                   in<"reference_chosen", user> rc,
                                   in<"reference_rejected", user> rr) -> out<"loss"> {
      return mean<user>(decltype(f){}(pc, pr, rc, rr));
    }));
  };
  const std::string added = "adds policy_rejected, which is of what was rejected";
  CHECK(mentions(preferred([](auto pc, auto pr, auto rc, auto rr) {
                   return -log(sigmoid(0.1 * ((pc - rc) + (pr - rr))));
                 }),
                 added));
  CHECK(mentions(preferred([](auto pc, auto pr, auto rc, auto rr) {
                   return softplus(-(0.1 * (pc - rc) + 0.1 * (pr - rr)));
                 }),
                 added));
  CHECK(preferred([](auto pc, auto pr, auto rc, auto rr) {
          return -log(sigmoid(0.1 * ((pc - rc) - (pr - rr))));
        }) == "");
  CHECK(preferred([](auto pc, auto pr, auto rc, auto rr) {
          return softplus(-(0.1 * ((pc - rc) + (rr - pr))));
        }) == "");
  CHECK(preferred([](auto pc, auto pr, auto rc, auto rr) {
          return softplus(-(0.1 * ((pc - pr) + (rr - rc))));
        }) == "");
  // both are made likely
  CHECK(preferred([](auto pc, auto pr, auto rc, auto rr) { return -(pc + pr) + rc + rr; }) == "");
}

TEST_CASE("the divergence of a normal distribution takes off its variance and square") {
  constexpr auto divergence = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"mu", user, d8> mu, in<"logvar", user, d8> l) -> out<"kl", user> {
          return decltype(f){}(mu, l);
        }));
  };
  CHECK(
      mentions(divergence([](auto mu, auto l) { return -0.5 * sum<d8>(1 + l - mu * mu + exp(l)); }),
               "adds the variance exp(logvar); did you mean - exp(logvar)?"));
  CHECK(
      mentions(divergence([](auto mu, auto l) { return -0.5 * sum<d8>(1 + l + mu * mu - exp(l)); }),
               "adds the square mu * mu"));
  CHECK(
      mentions(divergence([](auto mu, auto l) { return 0.5 * sum<d8>(exp(l) + mu * mu - 1 + l); }),
               "with a wrong sign"));
  CHECK(divergence([](auto mu, auto l) { return -0.5 * sum<d8>(1 + l - mu * mu - exp(l)); }) == "");
  CHECK(divergence([](auto mu, auto l) { return 0.5 * sum<d8>(exp(l) + mu * mu - 1 - l); }) == "");
}

TEST_CASE("loads are balanced by shares, not by scores") {
  constexpr auto balanced = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"x", user, d8> x, in<"chosen", user, d8> c) -> outs<out<"aux">, out<"p", user, d8>> {
          auto p = softmax<d8>(x);
          return {8 * sum<d8>(mean<user>(c) * mean<user>(decltype(f){}(x, p))), p};
        }));
  };
  CHECK(mentions(balanced([](auto x, auto) { return x; }),
                 "averages scores x over user, not their shares"));
  CHECK(balanced([](auto, auto p) { return p; }) == "");
}

}  // namespace qkv::testing::slips
