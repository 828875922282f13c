// SPDX-License-Identifier: BSL-1.0
#include "tests/cuda/emulator/settings.hpp"

#include <cstdlib>

namespace qkv::ptx {

int environment_number(const char *name, int otherwise) {
  const char *value = std::getenv(name);
  return value ? std::atoi(value) : otherwise;
}

settings settings::from_environment() {
  settings s;
  s.seed = static_cast<unsigned>(environment_number("PTX_SEED", 0));
  s.races = environment_number("PTX_RACES", 1) != 0;
  s.profile = environment_number("PTX_PROFILE", 0) != 0;
  s.ulps = environment_number("PTX_ULPS", 0);
  s.truncate = environment_number("PTX_TRUNCATE", 1) != 0;
  s.trace = environment_number("PTX_TRACE", 0) != 0;
  return s;
}

}  // namespace qkv::ptx
