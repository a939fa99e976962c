"""
A tumour study
==============

Expression, methylation and miRNA of 300 generated tumours; some patients lack an assay. Are there subtypes, what
characterises them, and do they matter for the patient?
"""

# %%
# The clinical columns are not used for clustering. They show what the clusters are related to.
from manyview import OCBR
from manyview.datasets import make_tumours
from manyview.evaluation import associate, compare_survival
from manyview.report import plot_markers, plot_survival

study = make_tumours(300, seed=0)
model = OCBR(n_clusters="auto").fit(study.views)
print(model.n_clusters_, "subtypes; values missing:", model.n_missing_)

# %%
# Survival of the subtypes.
survival = compare_survival(model.labels_, study.metadata["time"], study.metadata["event"])
plot_survival(survival, time="months")

# %%
# Age and stage are related to the subtypes; sex, centre and treatment are not. Survival itself is left out here.
clinic = study.metadata.drop(columns=["time", "event"])
found = associate(model.labels_, clinic)
print(found[["column", "test", "p_corrected", "effect_name", "effect"]].to_string(index=False, float_format="%.2g"))

# %%
# The features that mark each subtype: colour is the mean, size the share of tumours above the median. The clusters were
# found from these features, so this is a description, not a test.
plot_markers(model, study.views)
