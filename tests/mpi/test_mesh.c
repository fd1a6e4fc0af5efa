/* Meshes of random points, cells and fields, some ranks without any, written in both formats and read by a strict
 * reader that knows nothing of Sago (tests/scripts/read_mesh.py); and what is refused.  test_mesh [large] */
/* RUN: n=1,3,4 */
/* RUN: n=2 large */
#include "mpi/check.h"
#include "support/random.h"

enum { POINTS_MOST = 400000, CORNERS_MOST = 8 };

typedef struct mesh {
    int64_t npoints, ncells;
    double *xyz;
    int64_t *offsets, *corners;
    int32_t *kinds;
    float *heat;
    int64_t *number;
    uint8_t *colour;
} mesh;

static void *room(int64_t n, size_t each) {
    void *memory = calloc((size_t)n + 1, each);
    if (!memory)
        abort();
    return memory;
}

/* The same on every rank that asks for it. */
static void mesh_make(mesh *m, uint64_t seed, int of, bool large) {
    static const int32_t kinds[] = {3, 5, 9, 10, 12}, corners[] = {2, 3, 4, 4, 8};
    uint64_t state = seed * 1000 + (uint64_t)of * 77 + 1;
    m->npoints = large ? POINTS_MOST : (int64_t)(next_random(&state) % 30);
    m->ncells = m->npoints ? (large ? POINTS_MOST : (int64_t)(next_random(&state) % 40)) : 0;
    m->xyz = room(3 * m->npoints, sizeof *m->xyz);
    m->offsets = room(m->ncells, sizeof *m->offsets);
    m->corners = room(CORNERS_MOST * m->ncells, sizeof *m->corners);
    m->kinds = room(m->ncells, sizeof *m->kinds);
    m->heat = room(3 * m->npoints, sizeof *m->heat);
    m->number = room(m->ncells, sizeof *m->number);
    m->colour = room(2 * m->npoints, 1);
    for (int64_t i = 0; i < 3 * m->npoints; i++) {
        m->xyz[i] = (double)next_random(&state) / 1e6 - 1000;
        m->heat[i] = (float)(next_random(&state) % 100000) / 16;
    }
    for (int64_t i = 0; i < 2 * m->npoints; i++)
        m->colour[i] = (uint8_t)next_random(&state);
    for (int64_t c = 0; c < m->ncells; c++) {
        uint64_t kind = next_random(&state) % 5;
        m->kinds[c] = kinds[kind];
        m->offsets[c + 1] = m->offsets[c] + corners[kind];
        m->number[c] = (int64_t)next_random(&state) - 1000000;
        for (int64_t i = m->offsets[c]; i < m->offsets[c + 1]; i++)
            m->corners[i] = (int64_t)(next_random(&state) % (uint64_t)m->npoints);
    }
}

static void mesh_free(mesh *m) {
    free(m->xyz);
    free(m->offsets);
    free(m->corners);
    free(m->kinds);
    free(m->heat);
    free(m->number);
    free(m->colour);
}

/* What the reader is to find, rank after rank. */
static void expect_rank(FILE *out, const mesh *m, int64_t points_before) {
    for (int64_t i = 0; i < m->npoints; i++)
        fprintf(out, "point %a %a %a\n", m->xyz[3 * i], m->xyz[3 * i + 1], m->xyz[3 * i + 2]);
    for (int64_t c = 0; c < m->ncells; c++) {
        fprintf(out, "cell %d", (int)m->kinds[c]);
        for (int64_t i = m->offsets[c]; i < m->offsets[c + 1]; i++)
            fprintf(out, " %lld", (long long)(m->corners[i] + points_before));
        fprintf(out, "\ncells number<&> 1 %a\n", (double)m->number[c]);
    }
    fprintf(out, "cells number<&> 1\npoints heat%%flow 3\npoints colour 2\n");
    for (int64_t i = 0; i < m->npoints; i++)
        fprintf(out, "points heat%%flow 3 %a %a %a\npoints colour 2 %a %a\n", m->heat[3 * i], m->heat[3 * i + 1],
                m->heat[3 * i + 2], (double)m->colour[2 * i], (double)m->colour[2 * i + 1]);
}

static void write_expected(uint64_t seed, bool large) {
    FILE *out = fopen(scratch("expected"), "w");
    int64_t before = 0;
    CHECK(out != NULL);
    for (int r = 0; out && r < ranks; r++) {
        mesh m;
        mesh_make(&m, seed, r, large);
        expect_rank(out, &m, before);
        before += m.npoints;
        mesh_free(&m);
    }
    CHECK(out && fclose(out) == 0);
}

static void write_mesh(const mesh *m, const char *path, sago_mesh_format format) {
    sago_mesh *out = NULL;
    CHECK_OK(sago_mesh_begin(MPI_COMM_WORLD, path, format, MPI_INFO_NULL, &out));
    if (!out)
        return;
    CHECK_OK(sago_mesh_field(out, SAGO_MESH_AT_CELLS, "number<&>", MPI_INT64_T, 1, m->number));
    CHECK_OK(sago_mesh_points(out, m->npoints, MPI_DOUBLE, m->xyz));
    CHECK_OK(sago_mesh_cells(out, m->ncells, m->offsets, m->corners, m->kinds));
    CHECK_OK(sago_mesh_field(out, SAGO_MESH_AT_POINTS, "heat%flow", MPI_FLOAT, 3, m->heat));
    CHECK_OK(sago_mesh_field(out, SAGO_MESH_AT_POINTS, "colour", MPI_UINT8_T, 2, m->colour));
    CHECK_OK(sago_mesh_end(&out));
    CHECK(out == NULL);
}

static void run_seed(uint64_t seed, bool large) {
    char vtk[CHECK_PATH_MAX], vtu[CHECK_PATH_MAX], expected[CHECK_PATH_MAX], command[4 * CHECK_PATH_MAX];
    mesh m;
    snprintf(vtk, sizeof vtk, "%s", scratch("mesh.vtk"));
    snprintf(vtu, sizeof vtu, "%s", scratch("mesh.vtu"));
    snprintf(expected, sizeof expected, "%s", scratch("expected"));
    mesh_make(&m, seed, rank, large);
    write_mesh(&m, vtk, SAGO_MESH_VTK); /* over the last seed's, which may have been longer */
    write_mesh(&m, vtu, SAGO_MESH_VTU);
    mesh_free(&m);
    meet();
    if (rank == 0) {
        write_expected(seed, large);
        snprintf(command, sizeof command, "python3 '%s/tests/scripts/read_mesh.py' --compare '%s' '%s' '%s'",
                 getenv("SAGO_SOURCE"), expected, vtk, vtu);
        CHECK(system(command) == 0);
    }
    meet();
}

/* What one rank gives wrongly is told to all. */
static void refused(void) {
    static const double xyz[3];
    static const int64_t offsets[] = {0, 1}, corners[] = {5};
    static const int32_t kinds[] = {1};
    sago_mesh *out = NULL;
    scene = "refused";
    EXPECT(sago_mesh_begin(MPI_COMM_WORLD, NULL, SAGO_MESH_VTK, MPI_INFO_NULL, &out), SAGO_ERR_ARG,
           "sago_mesh_begin: ", -1);
    EXPECT(sago_mesh_begin(MPI_COMM_WORLD, scratch("no/such"), SAGO_MESH_VTK, MPI_INFO_NULL, &out),
           SAGO_ERR_NO_FILE, "sago_mesh_begin: ", -1);
    CHECK_OK(sago_mesh_begin(MPI_COMM_WORLD, scratch("bad.vtk"), SAGO_MESH_VTK, MPI_INFO_NULL, &out));
    CHECK_OK(sago_mesh_points(out, 1, MPI_DOUBLE, xyz));
    CHECK(sago_mesh_points(out, -1, MPI_INT, NULL) != SAGO_OK);
    CHECK(sago_mesh_end(&out) == SAGO_ERR_STATE);
    CHECK_OK(sago_mesh_begin(MPI_COMM_WORLD, scratch("bad.vtk"), SAGO_MESH_VTK, MPI_INFO_NULL, &out));
    CHECK_OK(sago_mesh_points(out, 1, MPI_DOUBLE, xyz));
    if (rank == ranks - 1)
        CHECK_OK(sago_mesh_cells(out, 1, offsets, corners, kinds));
    CHECK(sago_mesh_end(&out) == SAGO_ERR_ARG);
    CHECK(out == NULL && strstr(sago_error_message(), "point 5"));
    CHECK_OK(sago_mesh_begin(MPI_COMM_WORLD, scratch("bad.vtk"), SAGO_MESH_VTK, MPI_INFO_NULL, &out));
    CHECK_OK(sago_mesh_points(out, 1, rank > 0 ? MPI_FLOAT : MPI_DOUBLE, xyz));
    CHECK(sago_mesh_end(&out) == (ranks > 1 ? SAGO_ERR_MISMATCH : SAGO_OK));
    CHECK_OK(sago_mesh_begin(MPI_COMM_WORLD, scratch("bad.vtk"), SAGO_MESH_VTK, MPI_INFO_NULL, &out));
    CHECK(sago_mesh_end(&out) == SAGO_ERR_STATE);
    CHECK(sago_mesh_end(&out) == SAGO_ERR_HANDLE);
    scene = "";
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    bool large = argc > 1 && strcmp(argv[1], "large") == 0;
    for (uint64_t seed = 1; seed <= (large ? 1 : 8); seed++)
        run_seed(seed, large);
    if (!large)
        refused();
    return check_end();
}
