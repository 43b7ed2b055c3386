"""What owners of tables need, beside the library, which imports none of it.

``cli`` is ``python -m anonpaper``: its ``commands`` read tables (``reader``), run ``methods`` and
tell what came of it (``report``, ``text``, ``page``, ``explain``). ``scan`` counts tables larger
than memory where they are; an ``engine`` writes their releases.
"""
