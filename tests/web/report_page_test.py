#!/usr/bin/env python3
"""Opens report.html in a headless Chromium: no console message, no request, shown numbers equal
report.json, no sideways scroll at 390 px, hostile names inert.

usage: report_page_test.py SYNTHETIC_REPORT [--page DIR]   (the program that writes made-up reports;
--page checks the report in DIR instead)
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from devtools import Browser  # noqa: E402

KINDS = ("enable", "quick", "blocked", "eager", "hostile", "bare")
arguments = argparse.Namespace(program=None, page=None)


def at_pointer(root, pointer):
    for part in pointer.strip("/").split("/"):
        root = root[int(part)] if isinstance(root, list) else root[part]
    return root


# What one of the shown unit is worth in the unit of report.json, by (unit of the number, shown unit).
FACTORS = {
    ("ms", "ms"): 1, ("ms", "µs"): 1e-3, ("ms", "ns"): 1e-6, ("ms", "s"): 1e3, ("s", "s"): 1, ("s", "h"): 3600,
    ("minutes", "minutes"): 1, ("minutes", "s"): 1 / 60, ("minutes", "h"): 60,
    ("minutes", "days"): 1440, ("share", "%"): 0.01, ("ratio", "x"): 1, ("usd", "$"): 1,
    ("usd", "cents"): 0.01, ("requests", "requests"): 1, ("requests", "request"): 1,
    ("requests", "M requests"): 1e6, ("requests", "G requests"): 1e9,
    ("requests", "T requests"): 1e12, ("1/s", "per second"): 1,
}


def check_figure(text, value, unit, path):
    """`text` must be `value` in three significant digits; a bare figure is taken in any unit."""
    match = re.fullmatch(r"(-?)(\$?)(-?[\d,.]+(?:e[+-]?\d+)?) ?(.*)", text)
    assert match, f"{path}: {text!r} is no figure"
    sign, dollar, digits, shown_unit = match.groups()
    shown = float(digits.replace(",", "")) * (-1 if sign else 1)
    shown_unit = dollar or shown_unit
    if shown_unit:
        factors = [FACTORS.get((unit, shown_unit), 1 if shown_unit == unit else None)]
        assert factors[0] is not None, f"{path}: unit {shown_unit!r} for {unit!r}"
    else:
        factors = [factor for (of, _), factor in FACTORS.items() if of == unit] or [1]
    close = [abs(shown * factor - value) <= 0.0051 * abs(value) + 1e-12 for factor in factors]
    assert any(close), f"{path}: the page shows {text!r}, report.json has {value} {unit}"


def check_page(browser, folder, test):
    page = os.path.join(folder, "report.html")
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    browser.set_view(1280, 900)
    browser.open(page)
    test.assertEqual(browser.problems(), [])
    test.assertEqual(browser.requests(), [])
    embedded = json.loads(browser.evaluate("document.getElementById('report-json').textContent"))
    test.assertEqual(embedded, report)
    test.assertEqual(browser.evaluate("document.getElementById('verdict').dataset.verdict"),
                     report["verdict"])
    shown = browser.evaluate(
        "[...document.querySelectorAll('[data-path]')].map(e => [e.dataset.path, e.textContent])")
    test.assertGreater(len(shown), 20)
    for path, text in shown:
        end = path.rsplit("/", 1)[-1]
        number = at_pointer(report, path[:-3] if end in ("lo", "hi") else path)
        value = number[end] if end in ("lo", "hi") else number["value"]
        if value is None:
            test.assertEqual(text, number["missing"], path)
        else:
            check_figure(text, value, number["unit"], path)
    test.assertEqual(browser.evaluate("document.images.length"), 0)
    unnamed = browser.evaluate(
        "[...document.querySelectorAll('svg')].filter(s => !s.getAttribute('aria-label')).length")
    test.assertEqual(unnamed, 0)
    for dark in (False, True):
        browser.set_view(390, 844, dark)
        browser.open(page)
        test.assertLessEqual(browser.evaluate("document.documentElement.scrollWidth"), 390)
    browser.set_view(1280, 900)


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="breakeven-web-")
        cls.browser = Browser().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__(None, None, None)
        cls.folder.cleanup()

    def make(self, kind):
        folder = os.path.join(self.folder.name, kind)
        if not os.path.isdir(folder):
            subprocess.run([arguments.program, folder, kind], check=True, stderr=subprocess.DEVNULL)
        return folder

    def test_pages_show_their_report(self):
        if arguments.page:
            check_page(self.browser, arguments.page, self)
            return
        for kind in KINDS:
            with self.subTest(kind=kind):
                check_page(self.browser, self.make(kind), self)

    def test_a_wrong_number_on_the_page_is_noticed(self):
        if arguments.page:
            self.skipTest("made-up reports alone are changed")
        folder = os.path.join(self.folder.name, "changed")
        os.makedirs(folder, exist_ok=True)
        source = self.make("enable")
        page = pathlib.Path(source, "report.html").read_text(encoding="utf-8")
        json_text = pathlib.Path(source, "report.json").read_text(encoding="utf-8")
        changed = re.sub(r'(data-path="/arms/1/p99_ms">)[\d.]+', r"\g<1>99.9", page, count=1)
        self.assertNotEqual(changed, page)
        pathlib.Path(folder, "report.html").write_text(changed, encoding="utf-8")
        pathlib.Path(folder, "report.json").write_text(json_text, encoding="utf-8")
        with self.assertRaises(AssertionError):
            check_page(self.browser, folder, self)

    def test_a_console_error_is_noticed(self):
        path = pathlib.Path(self.folder.name, "bad.html")
        path.write_text("<script>console.error('x'); nothing_here()</script>", encoding="utf-8")
        self.browser.open(path)
        self.assertGreaterEqual(len(self.browser.problems()), 2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--page")
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
