/* Learning curves as SVG: axes with round numbers, a line and its name for each series. */
#include "loss_svg.h"

#include <math.h>

#include "out.h"

#define WIDTH  760.0
#define HEIGHT 420.0
#define LEFT   70.0
#define RIGHT  20.0
#define TOP    40.0
#define BOTTOM 55.0

void cli_curve_start(cli_curve_line *line, const char *name)
{
    line->name = name;
    line->n = 0;
    line->every = line->until = 1;
}

void cli_curve_add(cli_curve_line *line, double x, double y)
{
    if (!isfinite(x) || !isfinite(y) || --line->until > 0) return;
    line->until = line->every;
    if (line->n == CLI_CURVE_POINTS) {
        line->n /= 2;
        for (size_t i = 0; i < line->n; i++) {
            line->x[i] = line->x[2 * i + 1];
            line->y[i] = line->y[2 * i + 1];
        }
        line->every *= 2;
    }
    line->x[line->n] = x;
    line->y[line->n] = y;
    line->n++;
}

/* From which number to which an axis goes, and by what steps. */
typedef struct axis {
    double least, most, step;
} axis;

/* 1, 2 or 5 times a power of ten: some five steps. */
static void round_axis(axis *a)
{
    if (a->most <= a->least) a->most = a->least + (fabs(a->least) > 0 ? fabs(a->least) : 1);
    const double rough = (a->most - a->least) / 5, power = pow(10, floor(log10(rough)));
    const double share = rough / power;
    a->step = power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
    a->least = floor(a->least / a->step) * a->step;
    a->most = ceil(a->most / a->step) * a->step;
}

static double place_x(const axis *a, double x)
{
    return LEFT + (x - a->least) / (a->most - a->least) * (WIDTH - LEFT - RIGHT);
}
static double place_y(const axis *a, double y)
{
    return HEIGHT - BOTTOM - (y - a->least) / (a->most - a->least) * (HEIGHT - TOP - BOTTOM);
}

static void measure(const cli_curve_line *lines, size_t n, axis *x, axis *y)
{
    *x = (axis){ 0, 0, 0 }; /* words are counted from 0 */
    *y = (axis){ INFINITY, -INFINITY, 0 };
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; lines[i].n > 1 && k < lines[i].n; k++) {
            x->most = fmax(x->most, lines[i].x[k]);
            y->least = fmin(y->least, lines[i].y[k]);
            y->most = fmax(y->most, lines[i].y[k]);
        }
    }
    if (y->least > y->most) *y = (axis){ 0, 1, 0 };
    round_axis(x);
    round_axis(y);
}

/* "1.5M": short enough to stand below a tick. */
static const char *short_number(char buf[32], double value)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = { { 1e9, "G" }, { 1e6, "M" }, { 1e3, "k" } };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (fabs(value) < units[i].unit) continue;
        snprintf(buf, 32, "%.4g%s", value / units[i].unit, units[i].name);
        return buf;
    }
    snprintf(buf, 32, "%.4g", value);
    return buf;
}

static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fputc(*text, out);
    }
}

static void put_axes(FILE *out, const axis *x, const axis *y, const char *x_label)
{
    char number[32];
    for (int i = 0; x->least + i * x->step <= x->most * (1 + 1e-9); i++) {
        const double at = place_x(x, x->least + i * x->step);
        fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", at, TOP, HEIGHT - BOTTOM);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", at,
                HEIGHT - BOTTOM + 18, short_number(number, x->least + i * x->step));
    }
    for (int i = 0; y->least + i * y->step <= y->most + y->step / 2; i++) {
        const double at = place_y(y, y->least + i * y->step);
        fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", LEFT, at, WIDTH - RIGHT);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
                at + 4, short_number(number, y->least + i * y->step));
    }
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 14);
    put_escaped(out, x_label);
    fputs("</text>\n", out);
}

static void put_line(FILE *out, const cli_curve_line *line, size_t number, const axis *x,
                     const axis *y)
{
    fprintf(out, "<path class=\"line c%zu\" d=\"", number % 4);
    for (size_t i = 0; i < line->n; i++)
        fprintf(out, "%c%.1f %.1f", i ? 'L' : 'M', place_x(x, line->x[i]), place_y(y, line->y[i]));
    fputs("\"/>\n", out);
    const double at = WIDTH - RIGHT - 150;
    fprintf(out, "<path class=\"line c%zu\" d=\"M%.1f %.1fh24\"/>\n", number % 4, at,
            TOP + 14 + 18 * (double)number);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", at + 32, TOP + 18 + 18 * (double)number);
    put_escaped(out, line->name);
    fputs("</text>\n", out);
}

int cli_curve_write(const cli *c, const char *path, const char *title, const char *x_label,
                    const cli_curve_line *lines, size_t n)
{
    cli_sink sink;
    axis x, y;
    int code = cli_sink_open(c, path, &sink);
    if (code) return code;
    FILE *out = sink.stream;
    measure(lines, n, &x, &y);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<style>text{fill:#333}.grid{stroke:#ddd;fill:none}.line{fill:none;stroke-width:1.8}"
            ".c0{stroke:#1b6ca8}.c1{stroke:#c4531b}.c2{stroke:#3a7d44}.c3{stroke:#7a4e9c}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"%.1f\" y=\"24\" "
            "font-size=\"15\">",
            WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
    put_escaped(out, title);
    fputs("</text>\n", out);
    put_axes(out, &x, &y, x_label);
    for (size_t i = 0, number = 0; i < n; i++)
        if (lines[i].n > 1) put_line(out, &lines[i], number++, &x, &y);
    fputs("</svg>\n", out);
    return cli_sink_close(c, &sink, code);
}
