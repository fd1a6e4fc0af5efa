#include "mesh/mesh_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/escape.h"

/* ---- Types ---- */

static const sagoi_mesh_type types[] = {
    {"float", "Float32", 4},      {"double", "Float64", 8},
    {"char", "Int8", 1},          {"unsigned_char", "UInt8", 1},
    {"short", "Int16", 2},        {"unsigned_short", "UInt16", 2},
    {"int", "Int32", 4},          {"unsigned_int", "UInt32", 4},
    {"vtktypeint64", "Int64", 8}, {"vtktypeuint64", "UInt64", 8},
};

const sagoi_mesh_type *sagoi_mesh_type_find(bool real, bool negative, int64_t bytes) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        bool is_real = i < 2, is_negative = is_real || i % 2 == 0;
        if (is_real == real && is_negative == (real || negative) && types[i].bytes == bytes)
            return &types[i];
    }
    return NULL;
}

static bool little_endian(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Legacy files are big-endian; XML files name their order of bytes. */
bool sagoi_mesh_swapped(sagoi_mesh_format format) { return format == SAGOI_MESH_VTK && little_endian(); }

/* ---- Parts ---- */

sago_status sagoi_mesh_part_check(const sagoi_mesh_part *part) {
    if (part->ncells > 0 && part->offsets[0] != 0)
        return sagoi_fail(SAGO_ERR_ARG, "the first cell's corners begin at %lld, not at 0",
                          (long long)part->offsets[0]);
    for (int64_t c = 0; c < part->ncells; c++) {
        if (part->offsets[c + 1] < part->offsets[c])
            return sagoi_fail(SAGO_ERR_ARG, "the corners of cell %lld end before they begin", (long long)c);
        if (part->kinds[c] < 1 || part->kinds[c] > UINT8_MAX)
            return sagoi_fail(SAGO_ERR_ARG, "cell %lld is of kind %d", (long long)c, (int)part->kinds[c]);
    }
    for (int64_t i = 0; i < part->ncorners; i++)
        if (part->corners[i] < 0 || part->corners[i] >= part->npoints)
            return sagoi_fail(SAGO_ERR_ARG, "a corner of a cell is point %lld, and there are %lld",
                              (long long)part->corners[i], (long long)part->npoints);
    return SAGO_OK;
}

int64_t sagoi_mesh_numbers(const sagoi_mesh_array *array, const sagoi_mesh_part *part) {
    switch (array->kind) {
    case SAGOI_MESH_POINTS:
        return 3 * part->npoints;
    case SAGOI_MESH_CELLS:
        return part->ncells + part->ncorners;
    case SAGOI_MESH_CORNERS:
        return part->ncorners;
    case SAGOI_MESH_ENDS:
    case SAGOI_MESH_KINDS:
        return part->ncells;
    case SAGOI_MESH_FIELD:
        break;
    }
    return array->field->components * (array->field->place == SAGOI_MESH_AT_POINTS ? part->npoints : part->ncells);
}

/* ---- Numbers as bytes ---- */

static void put_integer(int64_t value, int64_t bytes, char *to) {
    int32_t four = (int32_t)value;
    uint8_t one = (uint8_t)value;
    if (bytes == 8)
        memcpy(to, &value, 8);
    else if (bytes == 4)
        memcpy(to, &four, 4);
    else
        memcpy(to, &one, 1);
}

static int64_t integer_at(sagoi_mesh_walk *walk, int64_t i) {
    const sagoi_mesh_part *part = walk->part;
    switch (walk->array->kind) {
    case SAGOI_MESH_CORNERS:
        return part->corners[i] + walk->points_before;
    case SAGOI_MESH_ENDS:
        return part->offsets[i + 1] + walk->corners_before;
    case SAGOI_MESH_KINDS:
        return part->kinds[i];
    default:
        break;
    }
    /* Cell c begins behind the corners of the cells before it, and behind a number for each of them. */
    while (walk->cell + 1 < part->ncells && part->offsets[walk->cell + 1] + walk->cell + 1 <= i)
        walk->cell++;
    int64_t begin = part->offsets[walk->cell] + walk->cell;
    if (i == begin)
        return part->offsets[walk->cell + 1] - part->offsets[walk->cell];
    return part->corners[i - walk->cell - 1] + walk->points_before;
}

static void swap_bytes(char *bytes, int64_t element) {
    for (int64_t i = 0; i < element / 2; i++) {
        char kept = bytes[i];
        bytes[i] = bytes[element - 1 - i];
        bytes[element - 1 - i] = kept;
    }
}

int64_t sagoi_mesh_walk_on(sagoi_mesh_walk *walk, char *to, int64_t room) {
    const sagoi_mesh_array *array = walk->array;
    int64_t n = sagoi_min(room / array->element, sagoi_mesh_numbers(array, walk->part) - walk->next);
    const char *from = array->kind == SAGOI_MESH_POINTS  ? walk->part->xyz
                       : array->kind == SAGOI_MESH_FIELD ? array->field->data
                                                         : NULL;
    if (from && n > 0)
        memcpy(to, from + walk->next * array->element, (size_t)(n * array->element));
    for (int64_t i = 0; !from && i < n; i++)
        put_integer(integer_at(walk, walk->next + i), array->element, to + i * array->element);
    for (int64_t i = 0; walk->swapped && i < n; i++)
        swap_bytes(to + i * array->element, array->element);
    walk->next += n;
    return n * array->element;
}

/* ---- Texts: legacy ---- */

/* Names end at white space; readers decode %20 and the like. */
static void put_encoded(FILE *out, const char *name) {
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        fprintf(out, isgraph(*c) && !strchr("%\"", *c) ? "%c" : "%%%02X", *c);
}

static int64_t fields_at(const sagoi_mesh_form *form, sagoi_mesh_place place) {
    int64_t n = 0;
    for (int64_t i = 0; i < form->nfields; i++)
        n += form->fields[i].place == place;
    return n;
}

/* The first field of points, or of cells, is preceded by their number. */
static void legacy_field(FILE *out, const sagoi_mesh_form *form, const sagoi_mesh_part *all,
                         const sagoi_mesh_field *field, bool first) {
    bool points = field->place == SAGOI_MESH_AT_POINTS;
    int64_t tuples = points ? all->npoints : all->ncells;
    if (first)
        fprintf(out, "\n%s %" PRId64 "\nFIELD FieldData %" PRId64, points ? "POINT_DATA" : "CELL_DATA", tuples,
                fields_at(form, field->place));
    fputc('\n', out);
    put_encoded(out, field->name);
    fprintf(out, " %" PRId64 " %" PRId64 " %s\n", field->components, tuples, field->type->legacy);
}

static void legacy_text(FILE *out, const sagoi_mesh_form *form, const sagoi_mesh_part *all,
                        const sagoi_mesh_array *array, bool first) {
    switch (array->kind) {
    case SAGOI_MESH_POINTS:
        fprintf(out,
                "# vtk DataFile Version 3.0\nmesh by Sago\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS %" PRId64
                " %s\n",
                all->npoints, form->coordinates->legacy);
        break;
    case SAGOI_MESH_CELLS:
        fprintf(out, "\nCELLS %" PRId64 " %" PRId64 "\n", all->ncells, all->ncells + all->ncorners);
        break;
    case SAGOI_MESH_KINDS:
        fprintf(out, "\nCELL_TYPES %" PRId64 "\n", all->ncells);
        break;
    default:
        legacy_field(out, form, all, array->field, first);
    }
}

/* ---- Texts: XML ---- */

static void xml_array(FILE *out, const char *type, const char *name, int64_t components, int64_t offset) {
    fprintf(out, "<DataArray type=\"%s\" Name=\"", type);
    sagoi_escape_xml(out, name);
    fprintf(out, "\" NumberOfComponents=\"%" PRId64 "\" format=\"appended\" offset=\"%" PRId64 "\"/>\n",
            components, offset);
}

static void xml_fields(FILE *out, const sagoi_mesh_file *file, const int64_t *offset, sagoi_mesh_place place) {
    const char *tag = place == SAGOI_MESH_AT_POINTS ? "PointData" : "CellData";
    fprintf(out, "<%s>\n", tag);
    for (int64_t i = 0; i < file->narrays; i++) {
        const sagoi_mesh_field *field = file->arrays[i].field;
        if (field && field->place == place)
            xml_array(out, field->type->xml, field->name, field->components, offset[i]);
    }
    fprintf(out, "</%s>\n", tag);
}

/* All text of an XML file stands before the first array; offsets are counted from behind the underscore. */
static void xml_text(FILE *out, const sagoi_mesh_form *form, const sagoi_mesh_part *all,
                     const sagoi_mesh_file *file, const int64_t *offset) {
    fprintf(out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"%" PRId64
            "\" NumberOfCells=\"%" PRId64 "\">\n<Points>\n",
            little_endian() ? "LittleEndian" : "BigEndian", all->npoints, all->ncells);
    xml_array(out, form->coordinates->xml, "Points", 3, offset[0]);
    fputs("</Points>\n<Cells>\n", out);
    xml_array(out, "Int64", "connectivity", 1, offset[1]);
    xml_array(out, "Int64", "offsets", 1, offset[2]);
    xml_array(out, "UInt8", "types", 1, offset[3]);
    fputs("</Cells>\n", out);
    xml_fields(out, file, offset, SAGOI_MESH_AT_POINTS);
    xml_fields(out, file, offset, SAGOI_MESH_AT_CELLS);
    fputs("</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_", out);
}

static const char xml_end[] = "\n</AppendedData>\n</VTKFile>\n";

/* ---- All together ---- */

static sagoi_mesh_array *add(sagoi_mesh_file *file, sagoi_mesh_kind kind, int64_t element) {
    sagoi_mesh_array *array = &file->arrays[file->narrays++];
    *array = (sagoi_mesh_array){.kind = kind, .element = element};
    return array;
}

/* Fields of points come first, as the formats demand. */
static void list_arrays(const sagoi_mesh_form *form, sagoi_mesh_file *file) {
    bool xml = form->format == SAGOI_MESH_VTU;
    (void)add(file, SAGOI_MESH_POINTS, form->coordinates->bytes);
    (void)add(file, xml ? SAGOI_MESH_CORNERS : SAGOI_MESH_CELLS, xml ? 8 : 4);
    if (xml)
        (void)add(file, SAGOI_MESH_ENDS, 8);
    (void)add(file, SAGOI_MESH_KINDS, xml ? 1 : 4);
    for (int place = SAGOI_MESH_AT_POINTS; place <= SAGOI_MESH_AT_CELLS; place++)
        for (int64_t i = 0; i < form->nfields; i++)
            if ((int)form->fields[i].place == place)
                add(file, SAGOI_MESH_FIELD, form->fields[i].type->bytes)->field = &form->fields[i];
}

/* Writes the text before array i; `offset` says where each array is in the appended data of XML. */
static bool write_text(const sagoi_mesh_form *form, const sagoi_mesh_part *all, sagoi_mesh_file *file, int64_t i,
                       const int64_t *offset) {
    sagoi_mesh_array *array = &file->arrays[i];
    FILE *out = open_memstream(&array->text, &array->text_len);
    uint64_t bytes = (uint64_t)array->bytes;
    if (!out)
        return false;
    bool first =
        array->field && (!file->arrays[i - 1].field || file->arrays[i - 1].field->place != array->field->place);
    if (form->format == SAGOI_MESH_VTK)
        legacy_text(out, form, all, array, first);
    else if (i == 0)
        xml_text(out, form, all, file, offset);
    if (form->format == SAGOI_MESH_VTU)
        (void)fwrite(&bytes, sizeof bytes, 1, out);
    bool failed = ferror(out) != 0;
    return fclose(out) == 0 && !failed;
}

static sago_status place_arrays(const sagoi_mesh_form *form, const sagoi_mesh_part *all, sagoi_mesh_file *file,
                                int64_t *offset) {
    int64_t at = 0, appended = 0;
    for (int64_t i = 0; i < file->narrays; i++) {
        sagoi_mesh_array *array = &file->arrays[i];
        offset[i] = appended;
        if (sagoi_mul(sagoi_mesh_numbers(array, all), array->element, &array->bytes) ||
            sagoi_add(appended, array->bytes, &appended) || sagoi_add(appended, 8, &appended))
            return sagoi_fail(SAGO_ERR_OVERFLOW, "the mesh is too large for a file");
    }
    for (int64_t i = 0; i < file->narrays; i++) {
        if (!write_text(form, all, file, i, offset))
            return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the headers of a mesh");
        file->arrays[i].at = at + (int64_t)file->arrays[i].text_len;
        at = file->arrays[i].at + file->arrays[i].bytes;
    }
    file->end = form->format == SAGOI_MESH_VTU ? xml_end : "\n";
    file->end_at = at;
    file->bytes = at + (int64_t)strlen(file->end);
    return SAGO_OK;
}

sago_status sagoi_mesh_file_make(const sagoi_mesh_form *form, const sagoi_mesh_part *all, sagoi_mesh_file *file) {
    *file = (sagoi_mesh_file){0};
    if (form->format == SAGOI_MESH_VTK && (all->npoints > INT32_MAX || all->ncells > INT32_MAX - all->ncorners))
        return sagoi_fail(SAGO_ERR_OVERFLOW,
                          "%lld points and %lld corners of %lld cells are too many for legacy VTK; VTU has room",
                          (long long)all->npoints, (long long)all->ncorners, (long long)all->ncells);
    file->arrays = calloc((size_t)form->nfields + 4, sizeof *file->arrays);
    int64_t *offset = calloc((size_t)form->nfields + 4, sizeof *offset);
    sago_status status = SAGO_OK;
    if (file->arrays && offset) {
        list_arrays(form, file);
        status = place_arrays(form, all, file, offset);
    } else {
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for a mesh");
    }
    free(offset);
    if (status)
        sagoi_mesh_file_cleanup(file);
    return status;
}

void sagoi_mesh_file_cleanup(sagoi_mesh_file *file) {
    for (int64_t i = 0; i < file->narrays; i++)
        free(file->arrays[i].text);
    free(file->arrays);
    *file = (sagoi_mesh_file){0};
}
