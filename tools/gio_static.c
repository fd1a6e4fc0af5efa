#include "tools/gio_static.h"

#include <stdbool.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct image {
    const char *bytes;
    size_t size;
} image;

static bool within(const image *file, uint64_t offset, uint64_t length) {
    return offset <= file->size && length <= file->size - offset;
}

/* The header of a section; NULL: it lies outside of the file. */
static const Elf64_Shdr *section(const image *file, uint64_t index) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
    if (index >= header->e_shnum || header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % 8)
        return NULL;
    if (!within(file, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
        return NULL;
    const Elf64_Shdr *found = (const Elf64_Shdr *)(file->bytes + header->e_shoff) + index;
    return found->sh_type == SHT_NOBITS || within(file, found->sh_offset, found->sh_size) ? found : NULL;
}

static bool is_named(const image *file, const Elf64_Shdr *names, uint64_t at, const char *name) {
    size_t length = strlen(name) + 1;
    return at < names->sh_size && names->sh_size - at >= length &&
           memcmp(file->bytes + names->sh_offset + at, name, length) == 0;
}

/* Does this table of symbols define the function? */
static bool defines(const image *file, const Elf64_Shdr *table, const char *name) {
    const Elf64_Shdr *names = section(file, table->sh_link);
    if (!names || names->sh_type != SHT_STRTAB || table->sh_offset % 8)
        return false;
    const Elf64_Sym *symbols = (const Elf64_Sym *)(file->bytes + table->sh_offset);
    for (uint64_t i = 0; i < table->sh_size / sizeof *symbols; i++)
        if (symbols[i].st_shndx != SHN_UNDEF && is_named(file, names, symbols[i].st_name, name))
            return true;
    return false;
}

/* Looks into the table of symbols; in a program without one, looks for the name of one of GIO's codes. */
static bool has_gio(const image *file) {
    static const char word[] = "GIO_EMULTIDEFINE_FNC_ARGS";
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
    if (file->size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    for (uint64_t i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *table = section(file, i);
        if (table && table->sh_type == SHT_SYMTAB)
            return defines(file, table, "GIO_open");
    }
    return memmem(file->bytes, file->size, word, sizeof word) != NULL;
}

static bool is_static(const char *path) {
    struct stat info;
    bool found = false;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        image whole = {.size = (size_t)info.st_size};
        void *bytes = mmap(NULL, whole.size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            whole.bytes = bytes;
            found = has_gio(&whole);
            (void)munmap(bytes, whole.size);
        }
    }
    (void)close(file);
    return found;
}

/* Finds a program as a shell or a launcher would: in the folders of PATH, if the word has no folder. */
static bool word_is_static(const char *word) {
    char path[PATH_MAX];
    if (strchr(word, '/'))
        return is_static(word);
    for (const char *at = getenv("PATH"); at && *at; at += strspn(at, ":")) {
        int width = (int)strcspn(at, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", width, at, word) < (int)sizeof path && access(path, X_OK) == 0)
            return is_static(path);
        at += width;
    }
    return false;
}

const char *gio_static_find(char *const *command) {
    for (; *command; command++)
        if (**command && **command != '-' && word_is_static(*command))
            return *command;
    return NULL;
}
