"""What owners of tables need, beside the library, which imports none of it.

``cli`` is ``python -m anonpaper``: its ``commands`` read tables (``reader``), run ``methods`` and
tell what came of it (``report``, ``page``). ``explain`` says why a row looks as it does. ``scan``
counts tables larger than memory where they are (``sources``), ``engine`` writes them.
"""
