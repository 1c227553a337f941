"""anonymeter's side of the comparison: run by the Python of an environment that has it, on two CSV files.

It prints one JSON object: by attack the successes among members and control people, of how many.
"""

import json
import sys
import warnings

import pandas as pd

warnings.filterwarnings("ignore")


def main() -> None:
    """Read the members' rows, which are also the release, and the control rows; run the three attacks."""
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    members, control, secret, first, second, queries = sys.argv[1:]
    released, others, number = pd.read_csv(members), pd.read_csv(control), int(queries)
    found = {}

    def keep(name: str, evaluator: object) -> None:
        results = evaluator.results()
        found[name] = {
            "members": [float(results.n_success), results.n_attacks_ori],
            "control": [float(results.n_control), results.n_attacks_control],
            "risk": [results.risk().value, *results.risk().ci],
        }

    common = {"ori": released, "syn": released, "control": others, "n_attacks": number}
    singling = SinglingOutEvaluator(**common, n_cols=3, seed=0)
    keep("singling_out", singling.evaluate(mode="multivariate"))
    aux = (first.split(","), second.split(","))
    keep("linkability", LinkabilityEvaluator(**common, aux_cols=aux, n_neighbors=1).evaluate(n_jobs=1))
    known = [name for name in released.columns if name != secret]
    inference = InferenceEvaluator(**common, aux_cols=known, secret=secret)
    keep("inference", inference.evaluate(n_jobs=1))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
