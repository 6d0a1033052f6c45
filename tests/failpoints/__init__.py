"""A worker dies, fails, freezes or loses its line at every named moment, one after the other.

python3 manage.py test tests/failpoints                     a sample
python3 manage.py test tests/failpoints -m failpoints       every moment with every action: some minutes
"""
