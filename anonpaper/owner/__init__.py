"""Tools for owners of tables. This room imports the library, and the library does not import it.

``cli`` is ``python -m anonpaper``. Its commands understand their ``arguments``, read a table
(``reader``, ``kinds``), run one of the ``methods``, and write the release and its ``report`` (as
HTML: ``page``). ``scan`` counts tables larger than memory. ``evidence`` judges releases, also of
other tools.
"""
