# SPDX-License-Identifier: Apache-2.0
"""Opens files of levels with a reader that is not ours: level_readers.py h5py|vtk|paraview FOLDER.

test_level_file.c wrote FOLDER/solid.vtkhdf and flat.vtkhdf: in each cell of each level, velocity is the position of its
centre (z = 2 in two dimensions) and pressure its level, 0 the finest. Exit 0: all as it should be; 77: this reader is not
here (said on stdout); 1: wrong."""
import sys

FILES = {"solid": (96, 48, 64), "flat": (96, 64, 1)}
ORIGIN, SPACING, LEVELS = (-1.0, 0.5, 2.0), 0.25, 3


def skip(reason):
    print(reason)
    sys.exit(77)


def expect_near(what, found, wanted, tolerance=1e-12):
    if len(found) != len(wanted) or any(abs(f - w) > tolerance for f, w in zip(found, wanted)):
        sys.exit(f"{what}: {tuple(found)} instead of {tuple(wanted)}")


def bounds(cells):
    """Fields in two dimensions are one coarsest cell thick."""
    layers = cells[:2] + (cells[2] if cells[2] > 1 else 2 ** (LEVELS - 1),)
    return [ORIGIN[d] + end * layers[d] * SPACING for d in range(3) for end in (0, 1)]


def with_h5py(folder):
    """Against the description of the format alone: attributes, boxes, flat arrays; and each place has one finest cell."""
    try:
        import h5py
        import numpy
    except ImportError:
        skip("h5py is not installed (Debian: python3-h5py)")
    for name, cells in FILES.items():
        flat = cells[2] == 1
        with h5py.File(f"{folder}/{name}.vtkhdf") as file:
            root = file["VTKHDF"]
            if root.attrs["Type"] != b"OverlappingAMR" or list(root.attrs["Version"]) != [1, 0]:
                sys.exit("type or version")
            expect_near("origin", root.attrs["Origin"], ORIGIN)
            finest = numpy.full(cells[::-1], -1)
            for number in range(LEVELS):
                level, length = root[f"Level{number}"], 2 ** (LEVELS - 1 - number)
                expect_near("spacing", level.attrs["Spacing"], [length * SPACING] * 3)
                velocity, pressure = level["CellData/velocity"], level["CellData/pressure"]
                begin = 0
                for x0, x1, y0, y1, z0, z1 in level["AMRBox"]:
                    shape = (z1 - z0 + 1, y1 - y0 + 1, x1 - x0 + 1)
                    end = begin + shape[0] * shape[1] * shape[2]
                    u = velocity[begin:end].reshape(shape + (3,))
                    for axis, low in enumerate((x0, y0, z0)):
                        if flat and axis == 2:
                            continue
                        line = ORIGIN[axis] + (low + numpy.arange(shape[2 - axis]) + 0.5) * length * SPACING
                        line = line.reshape([-1 if d == 2 - axis else 1 for d in range(3)])
                        if abs(u[..., axis] - line).max() > 1e-12:
                            sys.exit(f"{name}: level {number} has wrong centres along {'xyz'[axis]}")
                    if (pressure[begin:end] != LEVELS - 1 - number).any():
                        sys.exit(f"{name}: a cell of level {number} came from another")
                    planes = slice(0, 1) if flat else slice(z0 * length, (z1 + 1) * length)
                    part = finest[planes, y0 * length : (y1 + 1) * length, x0 * length : (x1 + 1) * length]
                    if number > 0 and (part != number - 1).any():
                        sys.exit(f"{name}: a box of level {number} is not inside those of the next coarser one")
                    part[...] = number
                    begin = end
                if begin != len(velocity) or begin != len(pressure) or velocity.attrs["unit"] != b"m/s":
                    sys.exit(f"{name}: arrays of level {number} do not fill its boxes")
            if (finest < 0).any() or (finest == LEVELS - 1).sum() == 0:
                sys.exit(f"{name}: the levels do not fill the box")


def check_hierarchy(data, cells, name):
    """Cells in VTK's own order; those that finer cells hide have no geometry, and all others fill the box."""
    found = [0.0] * 6
    data.GetBounds(found)
    expect_near("bounds", found, bounds(cells), 1e-9)
    volume = 0.0
    for number in range(data.GetNumberOfLevels()):
        for box in range(data.GetNumberOfDataSets(number)):
            grid = data.GetDataSet(number, box)
            velocity, pressure = grid.GetCellData().GetArray("velocity"), grid.GetCellData().GetArray("pressure")
            hidden = grid.GetCellData().GetArray("vtkGhostType")
            for cell in range(grid.GetNumberOfCells()):
                if hidden is not None and hidden.GetValue(cell) != 0:
                    continue
                sides = grid.GetCell(cell).GetBounds()
                middle = [0.5 * (sides[2 * d] + sides[2 * d + 1]) for d in range(3)]
                if cells[2] == 1:
                    middle[2] = ORIGIN[2]
                expect_near(f"{name}: velocity of cell {cell}", velocity.GetTuple(cell), middle)
                expect_near("pressure", pressure.GetTuple(cell), [LEVELS - 1 - number])
                volume += (sides[1] - sides[0]) * (sides[3] - sides[2]) * (sides[5] - sides[4])
    wanted = bounds(cells)
    wanted = (wanted[1] - wanted[0]) * (wanted[3] - wanted[2]) * (wanted[5] - wanted[4])
    expect_near(f"{name}: volume of the cells that show", [volume], [wanted], 1e-6)


def with_vtk(folder):
    try:
        from vtkmodules.vtkIOHDF import vtkHDFReader
    except ImportError:
        skip("VTK is not installed (pip install vtk)")
    if not hasattr(vtkHDFReader, "SetMaximumLevelsToReadByDefaultForAMR"):
        skip("this VTK reads no levels from VTKHDF (9.2 does)")
    for name, cells in FILES.items():
        reader = vtkHDFReader()
        if not reader.CanReadFile(f"{folder}/{name}.vtkhdf"):
            sys.exit("vtkHDFReader refuses the file")
        reader.SetFileName(f"{folder}/{name}.vtkhdf")
        reader.SetMaximumLevelsToReadByDefaultForAMR(0)
        reader.Update()
        check_hierarchy(reader.GetOutputDataObject(0), cells, name)


def with_paraview(folder):
    try:
        from paraview import simple
    except ImportError:
        skip("ParaView is not installed (Debian: python3-paraview)")
    for name, cells in FILES.items():
        reader = simple.VTKHDFReader(FileName=f"{folder}/{name}.vtkhdf")
        if hasattr(reader, "MaximumLevelsToReadByDefaultForAMR"):
            reader.MaximumLevelsToReadByDefaultForAMR = 0
        reader.UpdatePipeline()
        check_hierarchy(reader.GetClientSideObject().GetOutputDataObject(0), cells, name)


if __name__ == "__main__":
    {"h5py": with_h5py, "vtk": with_vtk, "paraview": with_paraview}[sys.argv[1]](sys.argv[2])
