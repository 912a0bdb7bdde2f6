/**
 * Who of those that wait goes first: priorities and targets of classes, shares of tenants, how much
 * a worker is given, and when a turn is likely to come.
 */
package dev.kvasir.router.turn;
