"""Algorithms that group rows: Microdata in, Partition out.

They share these parameters and errors:

- ``m``, a Microdata of n rows, or of a table that stays outside. For l it needs a sensitive
  attribute; ColumnError without one. A value that a parameter cannot have raises ParameterError.
  A value that no grouping of the table can meet raises InfeasibleError.
- ``k``, the smallest size of a group, from 2 to n (klt: from 1).
- ``l``, the diversity asked for, from 2 to the largest that the table allows, which errors name.
  Frequency l-diversity: at most one l-th of the rows of a group share a sensitive value.
  Distinct l-diversity (klt, balanced_classes): a group has l different ones.
- ``seed``, a number or a generator, or None for fresh entropy: the same seed, the same groups.

Ties go to the lexicographically first tuple, and to the sensitive value of lowest code. An
attacker who knows the algorithm can conclude more than the groups show:
:func:`anonpaper.measure.minimality` measures that.
"""
