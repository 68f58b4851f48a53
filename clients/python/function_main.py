"""The entrypoint of functions: executes the function of SVC_FUNCTION for the run of SVC_RUN_CONFIG. Started by a runner."""

import os
import sys

# The folder of this file is first in the path: `simbatch` is imported from it, also where another is installed.
import simbatch.functions.loaded
from simbatch.functions.execute import main

if __name__ == "__main__":
    # From here on modules are found in the working directory of the runner, and not in that folder.
    sys.path[0] = os.getcwd()
    main(simbatch.functions.loaded.FUNCTION)
