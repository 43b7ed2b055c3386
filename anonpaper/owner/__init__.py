"""Tools for owners of tables. This room imports the library, and the library does not import it.

``cli`` is ``python -m anonpaper``: its commands understand their ``arguments``, read a table
(``reader``, ``kinds``), and write a release and its ``report``. ``scan`` counts tables larger than
memory. ``evidence`` judges releases, also of other tools.
"""
