/**
 * Settings of a simulated cluster: its instances, routing, outages, further gateways and the rule
 * by which instances come and go.
 */
package dev.kvasir.sim.cluster;
