"""How far a judge agrees with people: kappas, intervals, trust levels, certificates."""
