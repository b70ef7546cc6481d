from benchwright.packages._compile import (
    Inspected as Inspected,
    deliver as deliver,
    inspect_module as inspect_module,
    package_module as package_module,
)
from benchwright.packages._container import (
    DATA_AT as DATA_AT,
    build_image as build_image,
    image_tag as image_tag,
    why_no_docker as why_no_docker,
    write_build_folder as write_build_folder,
)
from benchwright.packages._installed import (
    PackageError as PackageError,
    list_packages as list_packages,
    pip_command as pip_command,
    try_wheel as try_wheel,
)
from benchwright.packages._load import PackagedBenchmark as PackagedBenchmark, load_package as load_package
from benchwright.packages._package import Package as Package, make_package as make_package
