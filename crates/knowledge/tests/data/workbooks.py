"""Makes openpyxl.xlsx and xlsxwriter.xlsx: `pip install openpyxl==3.1.5 XlsxWriter==3.3.1`, then run it in this folder."""

from datetime import date, datetime, time, timedelta

import openpyxl
import xlsxwriter

MOMENT = datetime(2026, 11, 23, 14, 30, 5)
ROWS = [
    ("date", date(2024, 1, 1), "yyyy-mm-dd"),
    ("own date", MOMENT, "[$-409]d\\-mmm\\-yy;@"),
    ("moment", MOMENT, "dd.mm.yyyy hh:mm:ss"),
    ("time", time(8, 15), "h:mm AM/PM"),
    ("duration", timedelta(hours=26, minutes=30), "[h]:mm:ss"),
    ("share", 0.256, "0.0%"),
    ("sum", 0.1 + 0.2, "General"),
    ("price", 1234.5, '#,##0.00 "€"'),
]


def with_openpyxl():
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Zahlen & Daten"
    for number, (name, value, code) in enumerate(ROWS, 1):
        sheet.cell(number, 1, name)
        sheet.cell(number, 2, value).number_format = code
    sheet["A9"] = "merged | cell"
    sheet.merge_cells("A9:B9")
    sheet["C9"] = "two\nlines"
    sheet["A10"] = True
    sheet["XFD1048576"] = "far away"
    book.create_sheet("Empty")
    book.create_chartsheet("Chart")
    book.save("openpyxl.xlsx")


def with_xlsxwriter():
    book = xlsxwriter.Workbook("xlsxwriter.xlsx", {"date_1904": True})
    sheet = book.add_worksheet("1904")
    for number, (name, value, code) in enumerate(ROWS):
        sheet.write(number, 0, name)
        sheet.write(number, 1, value, book.add_format({"num_format": code}))
    # A built-in format, and formulas with the values that Excel would have kept.
    sheet.write(8, 0, MOMENT, book.add_format({"num_format": 22}))
    sheet.write_formula(8, 1, "=B7*2", None, 0.6)
    sheet.write_formula(8, 2, "=A1&A2", None, "dateown date")
    sheet.write_formula(8, 3, "=1/0", None, "#DIV/0!")
    sheet.write_formula(8, 4, "=TRUE", None, "TRUE")
    sheet.write_rich_string(9, 0, "rich ", book.add_format({"bold": True}), "text")
    book.close()


with_openpyxl()
with_xlsxwriter()
