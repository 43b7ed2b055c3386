"""Code in the visible check of a function from which its answer can be copied."""

import ast
import builtins
import contextlib
import copy
import itertools
import sys
import warnings
from contextlib import suppress
from numbers import Real

import numpy as np
import pandas as pd

NUMBER = Real | np.generic


def leaks(checks, solution, names):
    """Return expressions that compute a call's result from nothing but the call's arguments.

    The checks run with the model answer. At each call that stands in a loop, all statements of the
    check run again in which the function is not called, with the arguments as they were, and all
    expressions are compared with the result: as they are, by their least, greatest, sum and
    length, and by the difference of any two.
    """
    function = next(n.name for n in ast.parse(solution).body if isinstance(n, ast.FunctionDef))
    tree, after, calls = ast.parse("\n".join(checks)), dict(names), []
    passed = {
        node.lineno: {name for argument in node.args if (name := direct(argument))}
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == function
    }
    exec(solution, after)
    model = after[function]

    def recorded(*given):
        frame = sys._getframe(1)
        while frame.f_code.co_filename != "<check>":
            frame = frame.f_back
        here, result = frame.f_globals | frame.f_locals, model(*given)
        line = max((line for line in passed if line <= frame.f_lineno), default=None)
        kept = {name: copy.deepcopy(here[name]) for name in passed[line] if name in here}
        calls.append((line, kept, result))
        return result

    after |= {function: recorded, "print": lambda *shown: None}
    quietly(compile(tree, "<check>", "exec"), after)
    found = set()
    for line in passed:
        of = [call for call in calls if call[0] == line][:12]
        if len(of) >= 4 and len({repr(result) for _, _, result in of}) > 1:
            found |= set.intersection(
                *(equal(tree, function, kept, names, result) for _, kept, result in of)
            )
    return found


def direct(node):
    """Return the name that is passed, as it is or as a copy."""
    match node:
        case ast.Name():
            return node.id
        case ast.Call(func=ast.Attribute(attr="copy" | "tolist"), args=[]):
            return direct(node.func.value)
        case ast.Call(func=ast.Name(id="list" | "dict" | "set" | "float" | "int"), args=[one]):
            return direct(one)
    return None


def equal(tree, function, given, names, result):
    """Return the expressions that equal a result, with the given arguments."""
    made = {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    space = {name: value for name, value in names.items() if name not in made} | given
    space["print"], values = lambda *shown: None, {}
    for statement in flat(tree.body):
        stored = {
            n.id
            for n in ast.walk(statement)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        if function not in names_in(statement) and not stored & given.keys():
            with suppress(Exception):
                quietly(compile(ast.Module([statement], []), "<part>", "exec"), space)
        for node in ast.walk(statement):
            used = names_in(node) - {*dir(builtins)}
            if (
                isinstance(node, ast.expr)
                and used
                and function not in used
                and not (isinstance(node, ast.Name) and node.id in given)
            ):
                with suppress(Exception):
                    code = compile(ast.Expression(node), "<part>", "eval")
                    values[ast.unparse(node)] = quietly(code, space)
    results = [result, *(result if isinstance(result, tuple) else ())]
    found = {text for text, value in values.items() for one in results if same(value, one)}
    for text, value in values.items():
        if isinstance(value, list | set | tuple | np.ndarray):
            for short in (min, max, sum, len):
                with suppress(Exception):
                    if any(same(short(value), one) for one in results):
                        found.add(f"{short.__name__}({text})")
    numbers = [(text, float(value)) for text, value in values.items() if is_number(value)]
    for (a, x), (b, y) in itertools.permutations(numbers, 2):
        if any(is_number(one) and abs(x - y - one) < 1e-9 for one in results):
            found.add(f"{a} - ({b})")
    return found


def flat(body):
    """Yield statements, and those within loops."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.For):
            yield from flat(statement.body)


def names_in(node):
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def quietly(code, space):
    with warnings.catch_warnings(), contextlib.redirect_stdout(None):
        warnings.simplefilter("ignore")
        return eval(code, space)


def is_number(value):
    return isinstance(value, NUMBER) and not isinstance(value, str | bool | np.bool_)


def same(value, result):
    """Whether a value is a result, up to rounding and the kind of a collection."""
    with suppress(Exception):
        if isinstance(result, np.ndarray | pd.Series):
            return (
                np.shape(value) == result.shape
                and len(result) > 1
                and np.allclose(np.asarray(value, float), np.asarray(result, float))
            )
        if is_number(result):
            return is_number(value) and (value == result or abs(float(value - result)) < 1e-9)
        if isinstance(result, list | set | frozenset):
            return isinstance(value, list | set | tuple) and {*value} == {*result}
        return type(value) is type(result) and bool(value == result)
    return False
