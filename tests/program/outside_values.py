#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Values of the pointwise operations, made outside of qkv: mpmath in 50 digits, special values as IEEE 754 says.

    outside_values.py > outside_values.txt

A line: operation, x, y (of one operand: x again), value. Operands are exact in f32.
"""
import math
import random
import struct
import sys

import mpmath

mpmath.mp.dps = 50
INF, NAN = math.inf, math.nan


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


# The value, and what it is at inf and at -inf.
FUNCTIONS = {
    "-": (lambda x: -x, -INF, INF),
    "exp": (mpmath.exp, INF, 0.0),
    "log": (mpmath.log, INF, NAN),
    "log1p": (mpmath.log1p, INF, NAN),
    "tanh": (mpmath.tanh, 1.0, -1.0),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), 1.0, 0.0),
    "relu": (lambda x: max(x, mpmath.mpf(0)), INF, 0.0),
    "gelu": (lambda x: x * mpmath.ncdf(x), INF, 0.0),
    "silu": (lambda x: x / (1 + mpmath.exp(-x)), INF, 0.0),
    "elu": (lambda x: x if x > 0 else mpmath.expm1(x), INF, -1.0),
    "softplus": (lambda x: max(x, mpmath.mpf(0)) + mpmath.log1p(mpmath.exp(-abs(x))), INF, 0.0),
    "sqrt": (mpmath.sqrt, INF, NAN),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), 0.0, NAN),
    "abs": (abs, INF, INF),
    "erf": (mpmath.erf, 1.0, -1.0),
    "cos": (mpmath.cos, NAN, NAN),
    "sin": (mpmath.sin, NAN, NAN),
}
OF_POSITIVE = {"log", "log1p", "sqrt", "rsqrt"}
AT_ZERO = {"log": lambda x: -INF, "rsqrt": lambda x: math.copysign(INF, x)}


def divided(x, y):
    if y != 0:
        return x / y
    return NAN if x == 0 or math.isnan(x) else math.copysign(INF, x) * math.copysign(1, y)


def power(x, y):
    try:
        return math.pow(x, y)
    except OverflowError:
        return INF
    except ValueError:  # a fraction of a negative number, or a pole
        odd = y == math.floor(y) and y % 2 == 1
        return (math.copysign(INF, x) if odd else INF) if x == 0 else NAN


def both(of):
    return of, of


def extreme(pick):
    return lambda x, y: NAN if math.isnan(x) or math.isnan(y) else pick(x, y)


# The value of finite operands, and of special ones.
PAIRS = {
    "+": both(lambda x, y: x + y),
    "sub": both(lambda x, y: x - y),
    "*": both(lambda x, y: x * y),
    "/": (lambda x, y: x / y, divided),
    "min": (min, extreme(min)),
    "max": (max, extreme(max)),
    "pow": (lambda x, y: mpmath.power(abs(x), y), power),
    "<": both(lambda x, y: x < y),
    "<=": both(lambda x, y: x <= y),
    ">": both(lambda x, y: x > y),
    ">=": both(lambda x, y: x >= y),
    "==": both(lambda x, y: x == y),
    "!=": both(lambda x, y: x != y),
    "and": both(lambda x, y: x != 0 and y != 0),
    "or": both(lambda x, y: x != 0 or y != 0),
}
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.0]


def line(name, x, y, value):
    if isinstance(value, bool):
        value = int(value)
    text = mpmath.nstr(value, 25, strip_zeros=True) if isinstance(value, mpmath.mpf) else repr(float(value))
    sys.stdout.write(f"{name} {x!r} {y!r} {text.replace('+inf', 'inf')}\n")


def main():
    for name, (of, at_inf, at_minus_inf) in FUNCTIONS.items():
        random.seed(name)
        points = [f32(random.choice([-1, 1]) * 2 ** random.uniform(-30, 6.3)) for _ in range(64)]
        for x in [abs(p) for p in points] if name in OF_POSITIVE else points:
            line(name, x, x, of(mpmath.mpf(x)))
        for x, value in ((NAN, NAN), (INF, at_inf), (-INF, at_minus_inf)):
            line(name, x, x, value)
        for x in (0.0, -0.0):
            line(name, x, x, AT_ZERO[name](x) if name in AT_ZERO else of(mpmath.mpf(x)))
        if name == "log1p":
            line(name, -1.0, -1.0, -INF)
            for x in (-0.75, -0.25, -2.0 ** -10, -2.0 ** -27):
                line(name, x, x, of(mpmath.mpf(x)))
        elif name in OF_POSITIVE:
            line(name, -1.0, -1.0, NAN)
    for x in SPECIAL:
        line("not", x, x, x == 0)
    for name, (of, special) in PAIRS.items():
        random.seed(name)
        for _ in range(64):
            x, y = (f32(random.choice([-1, 1]) * 2 ** random.uniform(-9, 5)) for _ in range(2))
            if name == "pow":
                x = abs(x)
            line(name, x, y, of(mpmath.mpf(x), mpmath.mpf(y)))
        for x in SPECIAL:
            for y in SPECIAL:
                line(name, x, y, special(x, y))


main()
