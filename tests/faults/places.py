"""Where a fault can be planted in C++, TypeScript and JavaScript: found in the tokens of a file, without a compiler.

A place is a stretch of text, `before`, and what a careless hand would make of it, `after`. The stretch is a whole
expression or statement, so that `on(n) ? (after) : (before)` means the same as `before` while fault n is off. What is
found wrongly does not compile, and is dropped then.
"""
import re
from dataclasses import dataclass, replace

KINDS = ("comparison", "and_or", "constant", "sign", "statement", "unit")
SIGNS = {"+": "-", "-": "+", "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
COMPARISONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
               "===": ("!==",), "!==": ("===",)}
OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {close: opening for opening, close in OPENING.items()}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "<<=", ">>=", "%=", "??=", "||=", "&&="}
# An expression around an operator ends there; `&&` and `||` too, except for a fault in one of them.
BORDERS = {",", ";", "?", ":", "=>", "return", "throw", "else", "do", "case", "in", "of", "co_return", "yield", "await",
           "typeof", "void", "new", "export", "default", "const", "let", "auto"} | ASSIGNMENTS
LOGICAL = {"&&", "||", "??"}
UNIT = re.compile(r"(1024|1000|1e3|1e6|1e9|1000000|1000000000|k[A-Z]\w*|[KMG]iB|(?:MS|NS|US|BYTES)_?\w*|10|20|30)(?:\.0|n|[uUlL]+)?$")
NUMBER = re.compile(r"(?:0[xX][\da-fA-F']+|\d[\d'_]*)(?:[uUlLn]*)$")
# What says nothing about a result, or is settled while it is compiled.
NEVER = re.compile(r"\b(static_assert|assert|constexpr|enum|using|typedef|template|case|import|export \*|interface|declare|"
                   r"static const|console|noexcept|operator)\b|\[\[")

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<string>(?:u8|[uUL])?R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?\d(?:[eEpP][+-]|'(?=[\da-fA-F])|[\w.])*)
  | (?P<name>[A-Za-z_$#][\w$]*)
  | (?P<sign><=>|>>>=|\.\.\.|===|!==|\*\*|->\*?|=>|<<=|>>=|\?\?=|&&=|\|\|=|\?\?|\?\.(?!\d)|::|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|.)
  """, re.X | re.S)
REGEX = re.compile(r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*")


@dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass
class Place:
    file: str
    line: int
    kind: str
    start: int
    end: int
    before: str
    after: str
    is_statement: bool = False


def _template_end(text, at):
    """After the template literal that begins at `at`, whose ${...} may hold others."""
    at += 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == "`":
            return at + 1
        elif text.startswith("${", at):
            depth, at = 1, at + 2
            while at < len(text) and depth:
                if text[at] == "`":
                    at = _template_end(text, at)
                    continue
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
        else:
            at += 1
    return at


def tokens_of(text, is_cpp):
    """Tokens without comments, white space and (C++) lines of the preprocessor."""
    tokens, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        if is_cpp and text[at] == "#" and text[text.rfind("\n", 0, at) + 1:at].strip() == "":
            line_end = re.compile(r"(?<!\\)\n").search(text, at)
            at = line_end.end() if line_end else len(text)
            continue
        if not is_cpp and text[at] == "`":
            end = _template_end(text, at)
            tokens.append(Token("string", text[at:end], at, end))
            at = end
            continue
        if not is_cpp and text[at] == "/" and (not tokens or tokens[-1].text in BORDERS | LOGICAL | set("([{!=")):
            found = REGEX.match(text, at)
            if found:
                tokens.append(Token("string", found[0], at, found.end()))
                at = found.end()
                continue
        found = TOKEN.match(text, at)
        kind = found.lastgroup if found.lastgroup != "raw" else "string"
        if kind != "comment":
            tokens.append(Token(kind, found[0], at, found.end()))
        at = found.end()
    return tokens


def _partners(tokens):
    """For each bracket the index of its partner."""
    partners, open_ = {}, []
    for i, token in enumerate(tokens):
        if token.kind == "string":
            continue
        if token.text in OPENING:
            open_.append(i)
        elif token.text in CLOSING and open_ and tokens[open_[-1]].text == CLOSING[token.text]:
            partners[i] = open_.pop()
            partners[partners[i]] = i
    return partners


class File:
    def __init__(self, name, text):
        self.name, self.text = name, text
        self.is_cpp = name.endswith((".cpp", ".h"))
        self.tokens = tokens_of(text, self.is_cpp)
        self.partners = _partners(self.tokens)
        self.in_function = self._in_function()

    def _in_function(self):
        """For each token: is it inside the body of a function (C++: constants of a namespace are settled while compiling)?"""
        if not self.is_cpp:
            return [True] * len(self.tokens)
        result, bodies, header = [], [], 0
        for i, token in enumerate(self.tokens):
            if token.text == "{":
                words = [t.text for t in self.tokens[header:i]]
                body = bool(bodies and bodies[-1])
                if ")" in words and not {"namespace", "enum"} & set(words) and (
                        "=" not in words[:words.index(")")] or "]" in words):
                    body = True
                bodies.append(body)
                header = i + 1
            elif token.text == "}":
                if bodies:
                    bodies.pop()
                header = i + 1
            elif token.text == ";":
                header = i + 1
            result.append(bool(bodies and bodies[-1]))
        return result

    def _line(self, at):
        return self.text.count("\n", 0, at) + 1

    def _statement(self, i):
        """Tokens from the beginning of the statement around token i up to it, as text."""
        start = i
        while start > 0 and self.tokens[start - 1].text not in (";", "{", "}"):
            start -= 1
        return self.text[self.tokens[start].start:self.tokens[i].end]

    def _expression(self, i, through_logical):
        """First and last token of the widest expression around operator i without a bracket or border between."""
        borders = BORDERS if through_logical else BORDERS | LOGICAL
        first = i
        while first > 0:
            before = self.tokens[first - 1]
            if before.kind != "string" and (before.text in OPENING or before.text in borders):
                break
            if before.text in CLOSING and before.kind != "string":
                if first - 1 not in self.partners or (before.text == "}" and not self.is_cpp):
                    return None
                first = self.partners[first - 1]
            else:
                first -= 1
        last = i
        while last + 1 < len(self.tokens):
            after = self.tokens[last + 1]
            if after.kind != "string" and (after.text in CLOSING or after.text in borders):
                break
            if after.text in OPENING and after.kind != "string":
                if last + 1 not in self.partners:
                    return None
                last = self.partners[last + 1]
            else:
                last += 1
        # `if (a) b + c;`: what stands in front of the expression is no part of it.
        if self.tokens[first].text in ("if", "while", "for", "switch", "catch", "goto", "delete"):
            return None
        return (first, last) if first < i < last else None

    def _place(self, kind, i, first, last, change, is_statement=False):
        """The place from token `first` to `last`, where `change` maps a token's index to its new text."""
        start, end = self.tokens[first].start, self.tokens[last].end
        before = self.text[start:end]
        if len(before) > 400 or before.count("\n") > 4 or "//" in before or "/*" in before:
            return None
        after, at = "", start
        for k in sorted(change):
            after += self.text[at:self.tokens[k].start] + change[k]
            at = self.tokens[k].end
        after += self.text[at:end]
        return Place(self.name, self._line(self.tokens[i].start), kind, start, end, before, after, is_statement)

    def _is_binary(self, i):
        token, text = self.tokens[i], self.text
        return 0 < i < len(self.tokens) - 1 and text[token.start - 1].isspace() and text[token.end].isspace()

    def places(self):
        for i, token in enumerate(self.tokens):
            if token.kind == "string" or not self.in_function[i]:
                continue
            statement = self._statement(i)
            if NEVER.search(statement):
                continue
            found = None
            if token.kind == "sign":
                yield from self._of_sign(i, token)
            elif token.kind == "number":
                found = self._of_number(i, token, statement)
            elif token.kind == "name":
                found = self._of_constant(i, token)
            if found:
                yield found
            lost = self._lost_statement(i)
            if lost:
                yield lost
                turned = re.sub(r"(\+\+|--|[-+]=)", lambda sign: SIGNS[sign[0]], lost.before, count=1)
                if turned != lost.before and not set('"`') & set(turned):
                    yield replace(lost, kind="sign", after=turned)

    def _of_sign(self, i, token):
        if not self._is_binary(i):
            return
        if token.text in COMPARISONS or token.text in ("+", "-"):
            around = self._expression(i, through_logical=False)
            if around is None:
                return
            words = self.text[self.tokens[around[0]].start:self.tokens[around[1]].end]
            if '"' in words or "'" in words or "`" in words:
                if token.text == "+":
                    return  # texts joined
            if token.text in COMPARISONS:
                for other in COMPARISONS[token.text]:
                    yield self._place("comparison", i, *around, {i: other})
            else:
                yield self._place("sign", i, *around, {i: SIGNS[token.text]})
        elif token.text in ("&&", "||"):
            around = self._expression(i, through_logical=True)
            if around is not None:
                yield self._place("and_or", i, *around, {i: "||" if token.text == "&&" else "&&"})
        elif token.text in ("*", "/", "<<", ">>") and i + 1 < len(self.tokens):
            factor = self.tokens[i + 1]
            follows = self.tokens[i + 2].text if i + 2 < len(self.tokens) else ""
            if not UNIT.match(factor.text) or follows in ("::", "(", ".", "["):
                return
            if factor.text in ("10", "20", "30") and token.text not in ("<<", ">>"):
                return
            around = self._expression(i, through_logical=False)
            if around is not None:
                yield self._place("unit", i, *around, {i: "", i + 1: ""})

    def _of_number(self, i, token, statement):
        if not NUMBER.match(token.text):
            return None
        before, after = self.tokens[i - 1].text, self.tokens[i + 1].text
        if after == ">" and self.text[token.end] == ">" or before == "<" and self.text[token.start - 1] == "<":
            return None  # of a template
        if self.is_cpp and re.match(r"\s*(static\s+)?const\b", statement) and not re.search(r"[=(]\s*\S*[a-z]\w*\W.*$", statement):
            return None  # settled while compiling
        if before == "[" and self.tokens[i - 2].kind == self.tokens[i - 3].kind == "name" and self.tokens[i - 3].text != "return":
            return None  # the length of an array
        if before == ":" and after in (";", ","):
            return None
        changed = re.sub(r"^(0[xX][\da-fA-F']+|[\d'_]+)", lambda n: self._plus_one(n[0]), token.text)
        return self._place("constant", i, i, i, {i: changed})

    @staticmethod
    def _plus_one(number):
        value = int(number.replace("'", "").replace("_", ""), 16 if number[:2].lower() == "0x" else 10) + 1
        return hex(value) if number[:2].lower() == "0x" else str(value)

    def _of_constant(self, i, token):
        if not re.match(r"k[A-Z]\w*$" if self.is_cpp else r"[A-Z][A-Z_\d]{3,}$", token.text):
            return None
        before, after = self.tokens[i - 1].text, self.tokens[i + 1].text if i + 1 < len(self.tokens) else ""
        if before in ("::", ".", "->", "<", "case", "&", "enum") or after in ("::", "(", "[", ".", "{", "=", ":", "->", ">"):
            return None
        if self.tokens[i - 1].kind == "name" and before not in BORDERS:
            return None
        return self._place("constant", i, i, i, {i: f"({token.text} + 1)"})

    def _lost_statement(self, i):
        """The statement that begins at token i, if it can be left out: no declaration, not the only `return`."""
        before = self.tokens[i - 1] if i else None
        if before is None or before.text not in (";", "{", "}", ")"):
            return None
        conditional = False
        if before.text == ")":
            head = self.partners.get(i - 1, 0)
            if self.tokens[head - 1].text != "if":
                return None
            conditional = True
        first = self.tokens[i]
        if first.kind != "name" and first.text not in ("++", "--", "*"):
            return None
        last = i
        while last < len(self.tokens) and self.tokens[last].text != ";":
            if self.tokens[last].text in OPENING and self.tokens[last].kind != "string":
                last = self.partners.get(last, len(self.tokens))
            if self.tokens[last].text == "}" and self.tokens[last].kind != "string" or last >= len(self.tokens):
                return None
            last += 1
        if last >= len(self.tokens) or "\n" in self.text[first.start:self.tokens[last].end].rstrip():
            return None
        words = self.tokens[i:last]
        if first.text in ("return", "throw", "co_return") and not conditional:
            return None
        if first.text in ("using", "const", "let", "var", "auto", "static", "struct", "class", "if", "for", "while", "do",
                          "else", "case", "default", "switch", "goto", "namespace", "public", "private", "protected", "type",
                          "friend", "extern", "import", "export", "super", "readonly", "declare", "assert", "constexpr",
                          "template", "typedef", "enum", "mutable", "unsigned", "int", "char", "bool", "void", "double"):
            return None
        if first.text not in ("return", "throw", "continue", "break", "++", "--", "*", "co_return"):
            second = words[1].text if len(words) > 1 else ""
            if second not in (".", "->", "(", "[", "++", "--", "?.", "::") and second not in ASSIGNMENTS:
                return None
            call_or_change = any(w.text in ASSIGNMENTS | {"(", "++", "--"} for w in words)
            if not call_or_change:
                return None
            if self.is_cpp and second == "::" and words[-1].kind == "name":
                return None  # `std::string name;`
        found = self._place("statement", i, i, last, {}, True)
        return replace(found, after="") if found else None


def places_of(name, text):
    seen = set()
    for place in File(name, text).places():
        if place is None or (place.start, place.end, place.after) in seen:
            continue
        seen.add((place.start, place.end, place.after))
        yield place
