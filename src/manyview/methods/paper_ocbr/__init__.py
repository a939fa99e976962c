"""The paper's own algorithm, as printed and corrected."""
