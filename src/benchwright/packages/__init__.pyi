from benchwright.packages._compile import Inspected as Inspected
from benchwright.packages._installed import (
    PackageError as PackageError,
    list_packages as list_packages,
    pip_command as pip_command,
)
from benchwright.packages._load import load_package as load_package
from benchwright.packages._package import Package as Package
