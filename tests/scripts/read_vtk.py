#!/usr/bin/env python3
"""read_vtk.py FILE NAME RAW...: does VTK read these arrays of a .vtk or .vti file as what the raw files hold?"""
import sys

import vtk


def main(path, pairs):
    legacy = path.endswith(".vtk")
    reader = vtk.vtkDataSetReader() if legacy else vtk.vtkXMLImageDataReader()
    reader.SetFileName(path)
    if legacy:
        reader.ReadAllScalarsOn()
    reader.Update()
    data = reader.GetOutput().GetPointData()
    print(f"{path}: {reader.GetOutput().GetDimensions()}, {data.GetNumberOfArrays()} arrays")
    for name, raw in pairs:
        array = data.GetArray(name)
        with open(raw, "rb") as file:
            if array is None or bytes(memoryview(array)) != file.read():
                print(f"FAIL: {path}: {name} is not what {raw} holds")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], list(zip(sys.argv[2::2], sys.argv[3::2]))))
