/* Drawing SVG: boxes, lines and text, in colours that go together and that colour-blind people can tell apart.
 *
 * Coordinates are pixels from the upper left corner.  Texts are escaped here. */
#ifndef TOOLS_SVG_H
#define TOOLS_SVG_H

#include <stdint.h>
#include <stdio.h>

typedef struct tool_svg {
    FILE *out;
} tool_svg;

typedef struct svg_box {
    double x, y, width, height;
} svg_box;

typedef enum { SVG_LEFT, SVG_MIDDLE, SVG_RIGHT } svg_anchor;

/* `title` is what a viewer shows as the picture's name. */
void svg_open(tool_svg *svg, FILE *out, double width, double height, const char *title);
void svg_close(tool_svg *svg);

/* Elements up to svg_group_close() show `tip` under the mouse. */
void svg_group_open(tool_svg *svg, const char *tip);
void svg_group_close(tool_svg *svg);

/* fill or stroke NULL: none. */
void svg_rect(tool_svg *svg, svg_box box, const char *fill, const char *stroke);
void svg_line(tool_svg *svg, double x1, double y1, double x2, double y2, const char *stroke, double width);
void svg_circle(tool_svg *svg, double x, double y, double radius, const char *fill, const char *stroke);

/* The baseline is at y. */
void svg_text(tool_svg *svg, double x, double y, double size, svg_anchor anchor, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* In white, for dark boxes. */
void svg_text_light(tool_svg *svg, double x, double y, double size, svg_anchor anchor, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* The approximate width of a text. */
double svg_text_width(const char *text, double size);
/* Cuts `text` to `width` pixels; "..." stands for what was left out. */
void svg_fit(const char *text, double size, double width, char *fitted, size_t capacity);

/* ---- Colours ---- */

#define SVG_INK "#1f2933"
#define SVG_GREY "#9aa5b1"
#define SVG_PALE "#f0f3f6"

typedef struct svg_color {
    char text[8];
} svg_color;

/* The i-th of eight colours that are easily told apart, in turn; dark enough for white text. */
svg_color svg_color_of(int64_t i);
/* From pale (0) to dark blue (1). */
svg_color svg_color_shade(double share);
/* A colour mixed with white: share 0 is white. */
svg_color svg_color_light(svg_color color, double share);

#endif
