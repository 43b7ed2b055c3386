from .catalogue import Paper as Paper
from .catalogue import overview as overview
from .catalogue import papers as papers
from .grids import run_grid as run_grid
from .results import Results as Results
from .shown import source_of as source_of
from .tables import reference as reference
from .tables import saved as saved
