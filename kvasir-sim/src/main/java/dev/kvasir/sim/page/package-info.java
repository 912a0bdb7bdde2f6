/**
 * The simulator's HTML pages: one file each, which loads nothing and shows how to repeat its run.
 *
 * <p>The {@code ...Page} classes choose the charts. A {@link dev.kvasir.sim.page.Chart} is written
 * as a table and as JSON, which the script of kvasir-chart draws.
 */
package dev.kvasir.sim.page;
