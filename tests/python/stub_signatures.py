"""Arguments and results in stubs are those that docstrings tell: pybind11's in _hetero, ours in gst/_gst. mypy's stubtest does not see these."""
from __future__ import annotations

import ast
import inspect
import pathlib
import re
import types

import hetero._hetero

# As pybind11 writes them, one line per overload: "name(self: hetero._hetero.Tensor, array: object, shared_memory: bool = False) -> None".
SIGNATURE = re.compile(r"^(?:\d+\. )?(?P<name>\w*)(?P<rest>\(.*\) -> .+)$")
# As we do: "add_tensor(tensor='tensor') -> Tensor", "label_id() -> int or None".
OWN_SIGNATURE = re.compile(r"^(?P<name>\w+)\((?P<arguments>.*)\)(?: -> (?P<result>[^\n]+))?$", re.MULTILINE)
EXACT = {"bool", "int", "float", "str", "bytes", "bytearray", "None"} | set(dir(hetero._hetero))
CONTAINERS = {"list", "dict", "tuple", "set"}


def parsed(line: str) -> ast.FunctionDef:
    match = SIGNATURE.match(line)
    assert match, line
    try:
        statement = ast.parse(f"def {match['name'] or 'value'}{match['rest']}: ...").body[0]
    except SyntaxError:
        raise ValueError(f"a class is named before it is defined: {line}") from None
    assert isinstance(statement, ast.FunctionDef)
    return statement


def of_docstring(doc: str) -> list[ast.FunctionDef]:
    lines = [line for line in doc.splitlines() if SIGNATURE.match(line) and "(*args, **kwargs)" not in line]
    return [parsed(line) for line in lines] if "Overloaded function" in doc else [parsed(line) for line in lines[:1]]


def arguments(function: ast.FunctionDef) -> list[tuple[str, str]]:
    """Names and kinds; names of those that go by position alone do not count."""
    given = function.args
    both = [("*", "position" if argument.arg.startswith("arg") else argument.arg) for argument in given.args]
    return [("position", "") for _ in given.posonlyargs] + [(kind, name) if name != "position" else ("position", "") for kind, name in both] + \
        [("keyword", argument.arg) for argument in given.kwonlyargs]


def defaults(function: ast.FunctionDef) -> dict[str, str]:
    given = function.args
    positional = given.posonlyargs + given.args
    pairs = [*zip(positional[len(positional) - len(given.defaults):], given.defaults), *zip(given.kwonlyargs, given.kw_defaults)]
    return {argument.arg: ast.unparse(default) for argument, default in pairs if default is not None}


def result(function: ast.FunctionDef) -> str:
    """The type's name without modules and parameters: List[str] is list."""
    name = re.sub(r"\[.*", "", ast.unparse(function.returns) if function.returns else "").split(".")[-1]
    return name.lower() if name.lower() in CONTAINERS else name


def differences(where: str, stubs: list[ast.FunctionDef], runtime: list[ast.FunctionDef], is_method: bool) -> list[str]:
    found = []
    if len(runtime) > 1 and len(runtime) != len(stubs):
        return [f"{where}: {len(stubs)} overloads in the stub, {len(runtime)} in the extension"]
    for number, stub in enumerate(stubs):
        real = runtime[number if len(runtime) > 1 else 0]
        if real.args.vararg is not None:
            continue  # it looks at its arguments itself
        told, there = arguments(stub), arguments(real)
        if is_method:
            told, there = told[1:], there[1:]
        if told != there:
            found.append(f"{where}: arguments {told} in the stub, {there} in the extension")
        told_defaults, there_defaults = defaults(stub), defaults(real)
        if len(stubs) == len(runtime) and told_defaults != there_defaults or not told_defaults.items() <= there_defaults.items():
            found.append(f"{where}: defaults {told_defaults} in the stub, {there_defaults} in the extension")
        if result(real) in EXACT | CONTAINERS and result(stub) != result(real):
            found.append(f"{where}: returns {result(stub)} in the stub, {result(real)} in the extension")
    return found


def check_functions(prefix: str, owner: object, body: list[ast.stmt], is_method: bool) -> tuple[int, list[str]]:
    count, found = 0, []
    by_name: dict[str, list[ast.FunctionDef]] = {}
    for statement in body:
        if isinstance(statement, ast.FunctionDef) and not any(ast.unparse(one).endswith(".setter") for one in statement.decorator_list):
            by_name.setdefault(statement.name, []).append(statement)
    for name, stubs in by_name.items():
        member = inspect.getattr_static(owner, name, None)
        doc = (member.fget.__doc__ if isinstance(member, property) else getattr(member, "__doc__", "")) or ""
        try:
            runtime = of_docstring(doc)
        except ValueError as error:
            found.append(f"{prefix}{name}: {error}")
            continue
        if runtime:
            count += 1
            found += differences(f"{prefix}{name}", stubs, runtime, is_method)
    return count, found


def own_differences(where: str, doc: str, stub: ast.FunctionDef) -> list[str] | None:
    """None where the docstring begins with no signature. Which arguments go by position alone is not told there."""
    match = OWN_SIGNATURE.match(doc)
    if match is None:
        return None
    told = re.sub(r"list of (\w+)", r"list[\1]", match["result"] or "None").replace(" or ", " | ")
    real = ast.parse(f"def {match['name']}({match['arguments']}): ...").body[0]
    assert isinstance(real, ast.FunctionDef)
    names, there = all_names(stub)[1:], all_names(real)
    found = [] if names == there else [f"{where}: arguments {names} in the stub, {there} in the extension"]
    if defaults(stub) != defaults(real):
        found.append(f"{where}: defaults {defaults(stub)} in the stub, {defaults(real)} in the extension")
    returned = ast.unparse(stub.returns) if stub.returns else ""
    # Modules, and which numbers a Rect has, are the stub's alone.
    returned = re.sub(r"\w+\.(?=\w)|(?<=Rect)\[\w+\]", "", returned)
    return found if returned in (told, "Self") else [*found, f"{where}: returns {returned} in the stub, {told} in the extension"]


def all_names(function: ast.FunctionDef) -> list[str]:
    """Of the arguments."""
    return [argument.arg for argument in function.args.posonlyargs + function.args.args + function.args.kwonlyargs]


def check_own(extension: types.ModuleType, stub: pathlib.Path) -> tuple[int, list[str]]:
    """How many methods were compared, and what differs."""
    count, found = 0, []
    for owner in ast.parse(stub.read_text("utf-8")).body:
        for method in owner.body if isinstance(owner, ast.ClassDef) and hasattr(extension, owner.name) else []:
            if not isinstance(method, ast.FunctionDef):
                continue
            described = getattr(extension, owner.name)
            # What makes an object is described by its class.
            doc = (described if method.name == "__new__" else getattr(described, method.name, None)).__doc__ or ""
            differing = own_differences(f"{owner.name}.{method.name}", doc, method)
            if differing is not None:
                count, found = count + 1, found + differing
    return count, found


def check(stub: pathlib.Path) -> tuple[int, list[str]]:
    """How many functions of _hetero were compared, and what differs."""
    body = ast.parse(stub.read_text("utf-8")).body
    count, found = check_functions("", hetero._hetero, body, False)
    for statement in body:
        owner = getattr(hetero._hetero, statement.name, None) if isinstance(statement, ast.ClassDef) else None
        if isinstance(statement, ast.ClassDef) and owner is not None:
            more, differ = check_functions(f"{statement.name}.", owner, statement.body, True)
            count, found = count + more, found + differ
    return count, found


if __name__ == "__main__":
    compared, differing = check(pathlib.Path(str(hetero._hetero.__file__)).with_name("_hetero.pyi"))
    print("\n".join(differing))
    print(f"{compared} functions compared, {len(differing)} differences")
    raise SystemExit(1 if differing or compared < 150 else 0)
