"""Where a fault can be planted in Python: by its syntax tree, so that every change is again Python."""
import ast
import re

from places import Place

COMPARE = {ast.Lt: ("<", ("<=", ">=")), ast.LtE: ("<=", ("<", ">")), ast.Gt: (">", (">=", "<=")), ast.GtE: (">=", (">", "<")),
           ast.Eq: ("==", ("!=",)), ast.NotEq: ("!=", ("==",)), ast.Is: ("is", ("is not",)), ast.IsNot: ("is not", ("is",)),
           ast.In: ("in", ("not in",)), ast.NotIn: ("not in", ("in",))}
UNITS = {1024, 1000, 1e3, 1e6, 1e9, 2**20, 2**30}


class Finder(ast.NodeVisitor):
    def __init__(self, name, text):
        self.name, self.text, self.found, self.depth = name, text, [], 0
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line.encode()))
        self.bytes = text.encode()

    def at(self, node):
        return (self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset)

    def add(self, kind, line, start, end, after):
        before = self.bytes[start:end].decode()
        if self.depth and "\n" not in before:
            offset = len(self.bytes[:start].decode())
            self.found.append(Place(self.name, line, kind, offset, offset + len(before), before, after))

    def between(self, kind, left, right, old, new):
        """Turns the operator between two operands."""
        start, end = self.at(left)[1], self.at(right)[0]
        text = self.bytes[start:end].decode()
        if re.fullmatch(rf"[)\s]*{re.escape(old)}[(\s]*", text):
            self.add(kind, left.end_lineno, start, end, text.replace(old, new, 1))

    def visit_FunctionDef(self, node):
        self.depth += 1
        for child in node.body:
            self.visit(child)
        self.depth -= 1

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Compare(self, node):
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:]):
            old, others = COMPARE[type(operator)]
            for new in others:
                self.between("comparison", left, right, old, new)
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:]):
            self.between("and_or", left, right, old, new)
        self.generic_visit(node)

    def visit_BinOp(self, node):
        if isinstance(node.op, (ast.Add, ast.Sub)) and not any(
                isinstance(side, (ast.Constant, ast.JoinedStr)) and not isinstance(getattr(side, "value", ""), (int, float))
                for side in (node.left, node.right)):
            old, new = ("+", "-") if isinstance(node.op, ast.Add) else ("-", "+")
            self.between("sign", node.left, node.right, old, new)
        if (isinstance(node.op, (ast.Mult, ast.Div, ast.FloorDiv)) and isinstance(node.right, ast.Constant)
                and node.right.value in UNITS or isinstance(node.op, (ast.LShift, ast.RShift))
                or isinstance(node.op, (ast.Mult, ast.Div)) and isinstance(node.right, ast.BinOp)):
            self.add("unit", node.lineno, self.at(node.left)[1], self.at(node)[1], "")
        self.generic_visit(node)

    def visit_Constant(self, node):
        if type(node.value) is int:
            self.add("constant", node.lineno, *self.at(node), str(node.value + 1))

    def visit_JoinedStr(self, node):  # Python 3.11 has no places inside of f-strings
        return

    def _lost(self, node):
        self.add("statement", node.lineno, *self.at(node), "pass")
        self.generic_visit(node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Constant):
            return  # words about the function
        self._lost(node)

    def visit_AugAssign(self, node):
        self._lost(node)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            old, new = ("+=", "-=") if isinstance(node.op, ast.Add) else ("-=", "+=")
            self.between("sign", node.target, node.value, old, new)

    visit_Continue = visit_Break = visit_Raise = _lost

    def visit_Assign(self, node):
        if isinstance(node.targets[0], (ast.Attribute, ast.Subscript)):
            self._lost(node)
        else:
            self.generic_visit(node)


def places_of(name, text):
    finder = Finder(name, text)
    finder.visit(ast.parse(text))
    return finder.found
