/**
 * The simulator's HTML pages: one file each, which loads nothing and shows how to repeat its run.
 *
 * <p>{@link dev.kvasir.sim.page.Drawing} draws a {@link dev.kvasir.sim.page.Chart} as SVG; the
 * {@code ...Page} classes choose the charts.
 */
package dev.kvasir.sim.page;
