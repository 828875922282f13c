# SPDX-License-Identifier: BSL-1.0
"""Settings by the command line, made before any library is imported."""
threads = 1
