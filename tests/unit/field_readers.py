# SPDX-License-Identifier: Apache-2.0
"""Opens a field file with a reader that is not ours: field_readers.py h5py|vtk|vti|paraview FOLDER.

test_field_readers.c wrote FOLDER/fields.vtkhdf, .xmf and .vti: in each cell, velocity is the position of its centre and
pressure is x + 10 y + 100 z. Exit 0: all as it should be; 77: this reader is not here (said on stdout); 1: wrong."""
import sys

CELLS, ORIGIN, SPACING, TIME = (5, 4, 3), (-1.0, 0.5, 2.0), (0.1, 0.2, 0.3), 1.25


def skip(reason):
    print(reason)
    sys.exit(77)


def expect_near(what, found, wanted, tolerance=1e-12):
    if len(found) != len(wanted) or any(abs(f - w) > tolerance for f, w in zip(found, wanted)):
        sys.exit(f"{what}: {tuple(found)} instead of {tuple(wanted)}")


def centre(i, j, k):
    return [ORIGIN[d] + (index + 0.5) * SPACING[d] for d, index in enumerate((i, j, k))]


def bounds():
    return [ORIGIN[d] + end * CELLS[d] * SPACING[d] for d in range(3) for end in (0, 1)]


def check_image(image):
    """Cells in VTK's own order, their centres computed by VTK."""
    expect_near("bounds", image.GetBounds(), bounds())
    expect_near("spacing", image.GetSpacing(), SPACING)
    expect_near("origin", image.GetOrigin(), ORIGIN)
    data = image.GetCellData()
    velocity, pressure = data.GetArray("velocity"), data.GetArray("pressure")
    if image.GetNumberOfCells() != 60 or velocity.GetNumberOfTuples() != 60 or velocity.GetNumberOfComponents() != 3:
        sys.exit("velocity has not three components in 60 cells")
    for cell in range(60):
        box = image.GetCell(cell).GetBounds()
        middle = [0.5 * (box[2 * d] + box[2 * d + 1]) for d in range(3)]
        expect_near(f"velocity of cell {cell}", velocity.GetTuple(cell), middle)
        expect_near(f"pressure of cell {cell}", pressure.GetTuple(cell),
                    [middle[0] + 10 * middle[1] + 100 * middle[2]], 1e-4)


def with_h5py(folder):
    try:
        import h5py
    except ImportError:
        skip("h5py is not installed (Debian: python3-h5py)")
    with h5py.File(f"{folder}/fields.vtkhdf") as file:
        velocity, pressure = file["VTKHDF/CellData/velocity"], file["VTKHDF/CellData/pressure"]
        if velocity.shape != (3, 4, 5, 3) or pressure.shape != (3, 4, 5):
            sys.exit(f"shapes {velocity.shape} and {pressure.shape}")
        for i, j, k in [(0, 0, 0), (4, 0, 0), (0, 3, 0), (0, 0, 2), (4, 3, 2), (2, 1, 1)]:
            expect_near("velocity", velocity[k, j, i], centre(i, j, k))
        expect_near("time", [file["lamina"].attrs["time_s"][0]], [TIME])
        if velocity.attrs["unit"] != b"m/s" or file["lamina/attributes"].attrs["title"] != b"centres":
            sys.exit("unit or title is lost")


def with_vtk(folder):
    try:
        from vtkmodules.vtkCommonCore import vtkVersion
        from vtkmodules.vtkIOHDF import vtkHDFReader
    except ImportError:
        skip("VTK is not installed (pip install vtk)")
    if (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion()) < (9, 3):
        skip(f"VTK {vtkVersion.GetVTKVersion()} cannot read cell data of a VTKHDF image (9.3 can)")
    reader = vtkHDFReader()
    reader.SetFileName(f"{folder}/fields.vtkhdf")
    if not reader.CanReadFile(f"{folder}/fields.vtkhdf"):
        sys.exit("vtkHDFReader refuses the file")
    reader.Update()
    check_image(reader.GetOutput())


def with_vti(folder):
    try:
        from vtkmodules.vtkIOXML import vtkXMLImageDataReader
    except ImportError:
        skip("VTK is not installed (Debian: python3-vtk9)")
    reader = vtkXMLImageDataReader()
    reader.SetFileName(f"{folder}/fields.vti")
    reader.Update()
    check_image(reader.GetOutput())
    expect_near("time", reader.GetOutput().GetFieldData().GetArray("TimeValue").GetTuple(0), [TIME])


def with_paraview(folder):
    try:
        from paraview import servermanager, simple
    except ImportError:
        skip("ParaView is not installed (Debian: python3-paraview)")
    reader = simple.OpenDataFile(f"{folder}/fields.xmf")
    reader.UpdatePipeline()
    expect_near("time", [reader.TimestepValues] if isinstance(reader.TimestepValues, float) else reader.TimestepValues,
                [TIME])
    check_image(servermanager.Fetch(reader))


if __name__ == "__main__":
    {"h5py": with_h5py, "vtk": with_vtk, "vti": with_vti, "paraview": with_paraview}[sys.argv[1]](sys.argv[2])
