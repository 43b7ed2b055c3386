"""Tools for owners of tables. This room imports the library, and the library does not import it.

``cli`` is ``python -m anonpaper``. Its ``commands`` read tables (``reader``), run ``methods`` and
report the result (``report``, ``page``). ``scan``
counts tables larger than memory (files: ``sources``), and ``engine`` writes their releases.
"""
