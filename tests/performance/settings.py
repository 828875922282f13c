# SPDX-License-Identifier: BSL-1.0
"""What the command line decides before any library is imported."""
threads = 1
