"""python -m scorebook_python_peer"""

import sys

from .cli import main

sys.exit(main())
