/* Headers of files for visualisation programs. */
#include "tools/vtk.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"

static const vtk_type types[] = {
    {"float32", "float", "Float32", "Float", 4, MPI_FLOAT, 1},
    {"float64", "double", "Float64", "Float", 8, MPI_DOUBLE, 1},
    {"int8", "char", "Int8", "Char", 1, MPI_INT8_T, 1},
    {"uint8", "unsigned_char", "UInt8", "UChar", 1, MPI_UINT8_T, 1},
    {"int16", "short", "Int16", "Int", 2, MPI_INT16_T, 1},
    {"uint16", "unsigned_short", "UInt16", "UInt", 2, MPI_UINT16_T, 1},
    {"int32", "int", "Int32", "Int", 4, MPI_INT32_T, 1},
    {"uint32", "unsigned_int", "UInt32", "UInt", 4, MPI_UINT32_T, 1},
    {"int64", "vtktypeint64", "Int64", "Int", 8, MPI_INT64_T, 1},
    {"uint64", "vtktypeuint64", "UInt64", "UInt", 8, MPI_UINT64_T, 1},
    {"complex64", "float", "Float32", "Float", 4, MPI_C_FLOAT_COMPLEX, 2},
    {"complex128", "double", "Float64", "Float", 8, MPI_C_DOUBLE_COMPLEX, 2},
};

const vtk_type *vtk_type_find(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

void vtk_dims(const sago_ckpt_info *info, int64_t dims[3]) {
    for (int d = 0; d < 3; d++)
        dims[d] = d < info->ndims ? info->global[info->ndims - 1 - d] : 1;
}

/* ---- Legacy ---- */

void vtk_legacy_begin(FILE *out, int64_t step, const int64_t dims[3]) {
    fprintf(out,
            "# vtk DataFile Version 3.0\nSago checkpoint, step %" PRId64 "\nBINARY\nDATASET STRUCTURED_POINTS\n"
            "DIMENSIONS %" PRId64 " %" PRId64 " %" PRId64 "\nORIGIN 0 0 0\nSPACING 1 1 1\nPOINT_DATA %" PRId64
            "\n",
            step, dims[0], dims[1], dims[2], dims[0] * dims[1] * dims[2]);
}

/* Names end at white space; readers decode %20 and the like. */
static void put_encoded(FILE *out, const char *name) {
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        fprintf(out, isgraph(*c) && !strchr("%\"", *c) ? "%c" : "%%%02X", *c);
}

void vtk_legacy_array(FILE *out, const char *name, const vtk_type *type) {
    fputs("SCALARS ", out);
    put_encoded(out, name);
    fprintf(out, " %s %d\nLOOKUP_TABLE default\n", type->legacy, type->components);
}

/* ---- XML ---- */

static void put_extent(FILE *out, const int64_t dims[3]) {
    fprintf(out, "\"0 %" PRId64 " 0 %" PRId64 " 0 %" PRId64 "\"", dims[0] - 1, dims[1] - 1, dims[2] - 1);
}

void vtk_vti_begin(FILE *out, const int64_t dims[3]) {
    fputs("<?xml version=\"1.0\"?>\n"
          "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
          "<ImageData WholeExtent=",
          out);
    put_extent(out, dims);
    fputs(" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n<Piece Extent=", out);
    put_extent(out, dims);
    fputs(">\n<PointData>\n", out);
}

void vtk_vti_array(FILE *out, const char *name, const vtk_type *type, int64_t offset) {
    fprintf(out, "<DataArray type=\"%s\" Name=\"", type->vti);
    sagoi_escape_xml(out, name);
    fprintf(out, "\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%" PRId64 "\"/>\n", type->components,
            offset);
}

void vtk_vti_data(FILE *out) {
    fputs("</PointData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_", out);
}

const char vtk_vti_end[] = "\n</AppendedData>\n</VTKFile>\n";

/* ---- XDMF ---- */

void vtk_xdmf_begin(FILE *out, int64_t step) {
    fprintf(
        out,
        "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n<Information Name=\"step\" Value=\"%" PRId64
        "\"/>\n",
        step);
}

static void put_shape(FILE *out, const sago_ckpt_info *info, int least) {
    for (int d = info->ndims; d < least; d++)
        fputs("1 ", out);
    for (int d = 0; d < info->ndims; d++)
        fprintf(out, "%s%" PRId64, d ? " " : "", info->global[d]);
}

void vtk_xdmf_grid(FILE *out, const sago_ckpt_info *info) {
    fputs("<Grid Name=\"grid\" GridType=\"Uniform\">\n<Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"", out);
    put_shape(out, info, 3);
    fputs("\"/>\n<Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
          "<DataItem Dimensions=\"3\" Format=\"XML\">0 0 0</DataItem>\n"
          "<DataItem Dimensions=\"3\" Format=\"XML\">1 1 1</DataItem>\n</Geometry>\n",
          out);
}

void vtk_xdmf_array(FILE *out, const sago_ckpt_info *info, const vtk_type *type, const char *file) {
    fputs("<Attribute Name=\"", out);
    sagoi_escape_xml(out, info->name);
    fprintf(out, "\" AttributeType=\"%s\" Center=\"Node\">\n<DataItem Format=\"Binary\" Endian=\"Little\" ",
            type->components > 1 ? "Matrix" : "Scalar");
    fprintf(out, "NumberType=\"%s\" Precision=\"%" PRId64 "\" Dimensions=\"", type->xdmf, type->size);
    put_shape(out, info, 3);
    if (type->components > 1)
        fprintf(out, " %d", type->components);
    fputs("\">", out);
    sagoi_escape_xml(out, file);
    fputs("</DataItem>\n</Attribute>\n", out);
}

void vtk_xdmf_grid_end(FILE *out) { fputs("</Grid>\n", out); }

void vtk_xdmf_end(FILE *out) { fputs("</Domain>\n</Xdmf>\n", out); }
