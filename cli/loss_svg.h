/* curve.h - a learning curve as an SVG picture: lines over the words trained on. */
#ifndef WTE_CLI_CURVE_H
#define WTE_CLI_CURVE_H
#include "opt.h"

/* Points of one line, from left to right; those that are no numbers are passed over. When all
 * places are taken, every other point is given up. */
#define CLI_CURVE_POINTS 512u
typedef struct cli_curve_line {
    const char *name;
    size_t n;
    uint64_t every, until; /* one point in so many is kept; how many still to pass over */
    double x[CLI_CURVE_POINTS], y[CLI_CURVE_POINTS];
} cli_curve_line;

void cli_curve_start(cli_curve_line *line, const char *name);
void cli_curve_add(cli_curve_line *line, double x, double y);
/* The lines that have two points, over one pair of axes. 0, or the exit code after a message. */
int cli_curve_write(const cli *c, const char *path, const char *title, const char *x_label,
                    const cli_curve_line *lines, size_t n);
#endif
