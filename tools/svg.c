/* Elements of SVG: escaping, fonts and colours.  The caller decides what is drawn where. */
#include "tools/svg.h"

#include <stdarg.h>
#include <string.h>

#include "base/escape.h"

#define FONT "DejaVu Sans, Verdana, Helvetica, sans-serif"

enum { TEXT_MAX = 512 };

void svg_open(tool_svg *svg, FILE *out, double width, double height, const char *title) {
    svg->out = out;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"" FONT "\">\n<title>",
            width, height, width, height);
    sagoi_escape_xml(out, title);
    fprintf(out, "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
}

void svg_close(tool_svg *svg) { fputs("</svg>\n", svg->out); }

void svg_group_open(tool_svg *svg, const char *tip) {
    fputs("<g><title>", svg->out);
    sagoi_escape_xml(svg->out, tip);
    fputs("</title>\n", svg->out);
}

void svg_group_close(tool_svg *svg) { fputs("</g>\n", svg->out); }

void svg_rect(tool_svg *svg, svg_box box, const char *fill, const char *stroke) {
    fprintf(svg->out,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" rx=\"2\" fill=\"%s\" stroke=\"%s\"/>\n",
            box.x, box.y, box.width, box.height, fill ? fill : "none", stroke ? stroke : "none");
}

void svg_line(tool_svg *svg, double x1, double y1, double x2, double y2, const char *stroke, double width) {
    fprintf(svg->out,
            "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"%.2f\"/>\n", x1,
            y1, x2, y2, stroke, width);
}

void svg_circle(tool_svg *svg, double x, double y, double radius, const char *fill, const char *stroke) {
    fprintf(svg->out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"%s\" stroke=\"%s\"/>\n", x, y, radius,
            fill ? fill : "none", stroke ? stroke : "none");
}

typedef struct text_place {
    double x, y, size;
    svg_anchor anchor;
    const char *color, *more; /* attributes */
} text_place;

static void put_text(tool_svg *svg, text_place at, const char *format, va_list arguments) {
    static const char *const anchors[] = {[SVG_LEFT] = "start", [SVG_MIDDLE] = "middle", [SVG_RIGHT] = "end"};
    char text[TEXT_MAX];
    vsnprintf(text, sizeof text, format, arguments);
    fprintf(svg->out, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.1f\" text-anchor=\"%s\" fill=\"%s\"%s>", at.x,
            at.y, at.size, anchors[at.anchor], at.color, at.more);
    sagoi_escape_xml(svg->out, text);
    fputs("</text>\n", svg->out);
}

void svg_text(tool_svg *svg, double x, double y, double size, svg_anchor anchor, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put_text(svg, (text_place){x, y, size, anchor, SVG_INK, ""}, format, arguments);
    va_end(arguments);
}

void svg_text_light(tool_svg *svg, double x, double y, double size, svg_anchor anchor, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put_text(svg, (text_place){x, y, size, anchor, "#ffffff", ""}, format, arguments);
    va_end(arguments);
}

double svg_text_width(const char *text, double size) { return 0.62 * size * (double)strlen(text); }

void svg_fit(const char *text, double size, double width, char *fitted, size_t capacity) {
    size_t fits = width > 0 ? (size_t)(width / (0.62 * size)) : 0;
    if (strlen(text) <= fits)
        snprintf(fitted, capacity, "%s", text);
    else
        snprintf(fitted, capacity, "%.*s%s", (int)(fits > 3 ? fits - 3 : fits), text, fits > 3 ? "..." : "");
}

/* ---- Colours ------------------------------------------------------------------------------------------ */

typedef struct rgb {
    int red, green, blue;
} rgb;

static svg_color color_text(rgb color) {
    svg_color made;
    snprintf(made.text, sizeof made.text, "#%02x%02x%02x", color.red & 255, color.green & 255, color.blue & 255);
    return made;
}

static rgb color_mix(rgb from, rgb to, double share) {
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return (rgb){from.red + (int)((to.red - from.red) * share),
                 from.green + (int)((to.green - from.green) * share),
                 from.blue + (int)((to.blue - from.blue) * share)};
}

svg_color svg_color_of(int64_t i) {
    static const rgb set[] = {{51, 102, 170}, {190, 95, 20},  {34, 125, 81}, {150, 60, 120},
                              {90, 90, 90},   {20, 125, 140}, {170, 55, 60}, {120, 100, 30}};
    return color_text(set[i % (int64_t)(sizeof set / sizeof set[0])]);
}

svg_color svg_color_shade(double share) {
    return color_text(color_mix((rgb){228, 237, 246}, (rgb){24, 68, 126}, share));
}

svg_color svg_color_light(svg_color color, double share) {
    unsigned red = 0, green = 0, blue = 0;
    if (sscanf(color.text, "#%2x%2x%2x", &red, &green, &blue) != 3)
        return color;
    return color_text(color_mix((rgb){255, 255, 255}, (rgb){(int)red, (int)green, (int)blue}, share));
}
