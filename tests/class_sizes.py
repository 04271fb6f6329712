#!/usr/bin/env python3
"""Checks how large classes and files are: tests/class_sizes.py [--self-test] [--list] [TOP]

A class has at most 35 methods: member functions that it declares, constructors and overrides among them, each overload
by itself; not those that are deleted, and not those of classes within. A file of the programs has at most 600 lines.
Prints FILE: what is too large; exits 1 when there is any. --list prints the largest classes.
"""
import pathlib
import re
import sys

MOST_METHODS = 35
MOST_LINES = 600
ROOTS = ("common", "launcher")

# Comments, literals and preprocessor lines: nothing in them is code to count.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
    r'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
CLASS = re.compile(r"\b(?<!enum )(?:class|struct|union)\s+(?:\[\[[^\]]*\]\]\s*)?(\w+)(?:<[^;{]*>)?\s*(?:final\b\s*)?(?::[^;{]*)?$")
ANGLES = re.compile(r"(?<![<>=-])<(?![<=])(?:[^<>]|(?<=-)>)*(?<!-)>")
NO_METHOD = re.compile(r"^\s*(?:using|typedef|friend|static_assert|enum|template\s+class)\b")


def balanced(text, start):
    """Where the bracket that is opened at `start` has been closed."""
    closes = {"{": "}", "(": ")", "[": "]"}
    depth, opening, closing = 0, text[start], closes[text[start]]
    for at in range(start, len(text)):
        depth += (text[at] == opening) - (text[at] == closing)
        if depth == 0:
            return at + 1
    return len(text)


def is_method(head):
    """Whether a member's text, up to its body or its end, declares a function."""
    before = None
    head = head.replace("operator<<", "operator_").replace("operator<=>", "operator_").replace("operator<", "operator_")
    head = head.replace("operator>>", "operator_").replace("operator->", "operator_").replace("operator>", "operator_")
    head = head.replace("operator==", "operator_").replace("operator!=", "operator_").replace("operator()", "operator_")
    head = head.replace("operator=", "operator_")
    while before != head:
        before, head = head, ANGLES.sub("", head)
    head = re.sub(r"\[\[.*?\]\]|\balignas\s*\([^)]*\)|\b(?:public|private|protected)\s*:", "", head)
    if NO_METHOD.match(head):
        return False
    if re.search(r"=\s*delete\s*$", head):
        return False
    declared = re.split(r"(?<!operator)=", head)[0]
    return re.search(r"(?:\w|operator\S+)\s*\(", declared) is not None and not re.search(r"\(\s*\*\s*\w*\s*\)\s*\(", declared)


def members(text, at):
    """The members of the class whose body begins at `at`: (head, where its body begins or None); then where it ends."""
    out, begin = [], at
    while at < len(text):
        char = text[at]
        if char == "}":
            return out, at + 1
        if char == ";":
            out.append((text[begin:at], None))
            begin = at = at + 1
        elif char in "([":
            at = balanced(text, at)
        elif char == "{":
            head = text[begin:at]
            end = balanced(text, at)
            opened = head.rstrip()
            in_initialisers = re.search(r"\)\s*(?:noexcept\s*)?:(?!:)", head) and re.search(r"[\w>]$", opened)
            value = opened.endswith("=") or (re.search(r"\w$", opened) and not CLASS.search(opened)
                                             and not is_method(head) and not NO_METHOD.match(head.strip()))
            if in_initialisers or value:
                at = end
                continue
            out.append((head, at + 1))
            begin = at = end
            if text[at:].lstrip().startswith(";"):
                begin = at = text.index(";", at) + 1
        else:
            at += 1
    return out, at


def count(text, at, name, found):
    """The methods of the class whose body begins at `at`, and those of all classes within, into `found`."""
    methods = 0
    inside, end = members(text, at)
    for head, body in inside:
        label = re.sub(r"\b(?:public|private|protected)\s*:", "", head)
        within = CLASS.search(label.rstrip()) if body is not None else None
        if within:
            count(text, body, f"{name}::{within[1]}", found)
        elif is_method(label):
            methods += 1
    found[name] = methods
    return end


def classes(source):
    """Each class that is defined in the source, with its number of methods."""
    text = NO_CODE.sub(" ", source)
    found, at = {}, 0
    while match := re.search(r"[{;}]", text[at:]):
        stop = at + match.start()
        head = text[at:stop]
        at = stop + 1
        within = CLASS.search(head.rstrip()) if match[0] == "{" else None
        if within:
            at = count(text, at, within[1], found)
    return found


def sizes(top):
    """What is too large below `top`, and all classes with their sizes."""
    problems, everything = [], []
    for path in sorted(path for root in ROOTS for path in (top / root).rglob("*") if path.suffix in (".h", ".cc", ".c")):
        source = path.read_text()
        where = path.relative_to(top)
        lines = source.count("\n")
        if lines > MOST_LINES:
            problems.append(f"{where}: {lines} lines, more than {MOST_LINES}")
        for name, methods in classes(source).items():
            everything.append((methods, name, where))
            if methods > MOST_METHODS:
                problems.append(f"{where}: {name} has {methods} methods, more than {MOST_METHODS}")
    return problems, sorted(everything, key=lambda row: (-row[0], row[1]))


def self_test():
    source = """
    // class Comment { void no(); };
    class Later;
    enum class Colour : int { Red, Blue };
    template <class T> class Most final : public Base<T, int> {
     public:
      explicit Most(int a, std::function<void(int)> f = {}) : a_(a), b_{1, 2}, f_(std::move(f)) {}
      Most(const Most&) = delete;
      ~Most() override = default;
      [[nodiscard]] int get() const { return a_ < 2 ? 1 : f(b_); }
      template <class U>
      void set(const std::map<int, U>& m);
      std::function<void()> field;
      bool operator==(const Most&) const = default;
      bool operator()(int x);
      static constexpr Duration kLong = std::chrono::seconds(2);
      TimePoint now_ = Clock::now();
      int braces_{3};
      int (*pointer_)(int) = nullptr;
      friend bool same(const Most&, const Most&);
      using Done = std::function<void(int)>;
      enum class End : int { Seen, Gone };
      struct Inner { int x = 0; int twice() const { return 2 * x; } };
      std::vector<int> list_ = {1, 2};
      operator bool() const;
     private:
      int a_;
    };
    struct Plain { int a; std::string b{}; };
    void function() { struct Local { void f(); }; }
    """
    want = {"Most": 7, "Most::Inner": 1, "Plain": 0, "Local": 1}
    got = classes(source)
    if got != want:
        sys.exit(f"self-test: {got}, not {want}")


def main():
    arguments = sys.argv[1:]
    if "--self-test" in arguments:
        return self_test()
    tops = [word for word in arguments if not word.startswith("-")]
    problems, everything = sizes(pathlib.Path(tops[0]) if tops else pathlib.Path(__file__).resolve().parent.parent)
    if "--list" in arguments:
        for methods, name, where in everything[:25]:
            print(f"{methods:3} {name} ({where})")
        return None
    print("\n".join(problems) if problems else f"{len(everything)} classes, the largest has {everything[0][0]} methods")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
