// The upper tail of the chi-squared distribution, operation by operation as in ci/chi_squared.rs, which has the formulae and their sources.
// Results differ only as the machines' exp() and log() do.
#pragma once
#include "gpu/threads.cuh"

// ln Γ(k / 2 + 1) by k, the degrees of freedom, which are whole numbers.
__constant__ double ln_gamma[32] = {
    0.0, -0.12078223763524522, 0.0, 0.2846828704729192,
    0.6931471805599453, 1.2009736023470743, 1.791759469228055, 2.4537365708424423,
    3.1780538303479458, 3.9578139676187165, 4.787491742782046, 5.662562059857142,
    6.579251212010101, 7.534364236758733, 8.525161361065415, 9.549267257300997,
    10.60460290274525, 11.689333420797269, 12.801827480081469, 13.940625219403763,
    15.104412573075516, 16.292000476567242, 17.502307845873887, 18.734347511936445,
    19.987214495661885, 21.2600761562447, 22.552163853123425, 23.862765841689086,
    25.19122118273868, 26.536914491115613, 27.89927138384089, 29.277754515040815,
};

__device__ inline double stirling_error(double a) {
    double inverse = 1.0 / (a * a);
    double series = 1.0 / 12.0
                    - inverse
                          * (1.0 / 360.0
                             - inverse
                                   * (1.0 / 1260.0
                                      - inverse * (1.0 / 1680.0 - inverse * (1.0 / 1188.0 - inverse * 691.0 / 360360.0))));
    return series / a;
}

__device__ inline double deviance(double a, double z) {
    double v = (a - z) / (a + z);
    if (fabs(v) >= 0.6) return a * log(a / z) + z - a;
    double sum = (a - z) * v, power = 2.0 * a * v, odd = 1.0;
    while (true) {
        power *= v * v;
        odd += 2.0;
        double next = sum + power / odd;
        if (next == sum) return sum;
        sum = next;
    }
}

// Returns z^a e^-z / Γ(a + 1), a = df / 2.
__device__ inline double gamma_factor(double df, double a, double z) {
    if (a < 16.0) return exp(a * log(z) - z - ln_gamma[(u32)df]);
    return exp(-stirling_error(a) - deviance(a, z)) / sqrt(6.283185307179586 * a);
}

__device__ inline double lower_series(double a, double z) {
    double sum = 1.0, term = 1.0, at = a;
    while (true) {
        at += 1.0;
        term *= z / at;
        sum += term;
        if (term <= sum * (2.220446049250313e-16 / 8.0)) return sum;
    }
}

__device__ inline double upper_fraction(double a, double z) {
    double b = z + 1.0 - a, c = 1.0 / 1e-300, d = 1.0 / b, value = d, i = 0.0;
    while (true) {
        i += 1.0;
        double numerator = i * (a - i);
        b += 2.0;
        d = numerator * d + b;
        c = b + numerator / c;
        d = 1.0 / (fabs(d) < 1e-300 ? 1e-300 : d);
        c = fabs(c) < 1e-300 ? 1e-300 : c;
        double step = c * d;
        value *= step;
        if (fabs(step - 1.0) <= 2.220446049250313e-16 || i > 1e7) return value;
    }
}

// Returns P(X >= x) for a chi-squared X with `df` degrees of freedom, a whole number.
__device__ __noinline__ inline double upper_tail(double x, double df) {
    if (x <= 0.0) return 1.0;
    if (df <= 0.0) return 0.0;
    if (isinf(df)) return 1.0;
    double a = df / 2.0, z = x / 2.0;
    double factor = gamma_factor(df, a, z);
    if (z < a + 1.0) return 1.0 - factor * lower_series(a, z);
    // A factor of 0 makes p 0 whatever the fraction is. Most dependent pairs are that far out.
    return factor == 0.0 ? 0.0 : factor * a * upper_fraction(a, z);
}
