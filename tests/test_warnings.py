import subprocess
import sys


def test_no_warning_reaches_a_user_of_sparse_features():
    code = """
import warnings
import torch_geometric.datasets  # has warnings of its own
warnings.simplefilter("error")
import ncgnn
data = ncgnn.split_stratified(ncgnn.load_dataset("karate"), 0.5, 0.2)
assert data.x.layout == __import__("torch").sparse_csr
ncgnn.NCGNNClassifier(hops=1, epochs=1, normalize_features=True).fit(data).predict(data)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
