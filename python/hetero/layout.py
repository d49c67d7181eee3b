"""Meaning of the dimensions of a tensor."""

from __future__ import annotations

__all__ = ["Layout"]


class Layout:
    """A letter per dimension: Layout(\"NCHW\"). N is the batch, C channels, H and W height and width, in pixels."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        letters = str(text).strip("[]").replace(",", "").upper()
        if len(set(letters) - {"?", "."}) != len(letters.replace("?", "").replace(".", "")):
            raise ValueError(f"'{text}' is no layout: a letter stands for one dimension")
        if not all("A" <= letter <= "Z" for letter in letters):
            raise ValueError(f"'{text}' is no layout here: a letter per dimension, e.g. NCHW; '?' and '...' are not taken")
        self._text = letters

    @property
    def empty(self) -> bool:
        """Whether it says nothing."""
        return not self._text

    def has_name(self, name: str) -> bool:
        """Whether a dimension has this letter."""
        return name.upper() in self._text

    def get_index_by_name(self, name: str) -> int:
        """Raises ValueError when the layout has no such dimension."""
        index = self._text.find(name.upper())
        if index < 0:
            raise ValueError(f"layout {self._text} has no dimension {name}")
        return index

    def to_string(self) -> str:
        """As OpenVINO writes it: [N,C,H,W]."""
        return "[" + ",".join(self._text) + "]"

    def letters(self) -> str:
        """\"NCHW\""""
        return self._text

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            other = Layout(other)
        if not isinstance(other, Layout):
            return NotImplemented
        return self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __str__(self) -> str:
        return self.to_string()

    def __repr__(self) -> str:
        return f"<Layout: {self.to_string()}>"
