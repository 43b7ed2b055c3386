"""What of the lessons only the lecturer may see."""

import re
import textwrap
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
PART = r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)\s*### END"


def secrets_of_lessons():
    """Return lines of solutions and hidden tests, and sentences of the model answers.

    A line of a hidden test is no secret if a visible check has it too.
    """
    solutions, hidden, visible = set(), set(), set()
    for path in (ROOT / "notebooks" / "course").glob("*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            if "model-answer" in cell.metadata.get("tags", []):
                words = re.sub(r"[*`$]", "", cell.source)
                solutions |= {one for one in re.split(r"[.;:?!(]\s|\$", words) if len(one) > 40}
                continue
            for kind, part in re.findall(PART, cell.source, re.DOTALL):
                (solutions if kind == "SOLUTION" else hidden).update(lines_of(part))
            visible |= lines_of(re.sub(PART, "", cell.source, flags=re.DOTALL))
    assert len(solutions) > 100 and len(hidden) > 50
    return {" ".join(line.split()) for line in solutions | (hidden - visible)}


def lines_of(code):
    """Return the lines that are long enough to tell something."""
    return {line.strip() for line in code.splitlines() if len(line.strip()) > 25}


def written(stub, answer):
    """Return an exercise's cell with an answer in place of the stub's comment."""
    indent = re.search(r"^( *)# YOUR CODE HERE", stub, re.M)[1]
    return stub.replace(f"{indent}# YOUR CODE HERE", textwrap.indent(answer, indent))


def exam_answers():
    guide = (ROOT / "notebooks" / "course" / "INSTRUCTOR.md").read_text()
    answers = [line.strip() for line in guide.splitlines() if re.match(r"   \S", line)]
    assert len(answers) >= 16
    return {" ".join(answer.split())[:60] for answer in answers}
