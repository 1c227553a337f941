"""What leaves the house: tables as files, certificates and their verification, reports, saved releases.

Reports are in `anoncore.publishing.report`, whose function has the name of the package.

Examples
--------
All examples of the package begin with this release.

>>> import pandas as pd
>>> from anoncore import Microdata
>>> from anoncore.algorithms import Mondrian
>>> from anoncore.requirements import KAnonymity
>>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
>>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
>>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
"""

from anoncore.base.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
