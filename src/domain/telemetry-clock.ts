/** The zero of the seconds in which telemetry is shown and compared. */

/** The year 2001 in ns since 1970: earlier times are those of a simulation. */
const MACHINE_CLOCK_NS = 1_000_000_000_000_000_000n;

/**
 * A simulation that counts time from a zero of its own keeps it. Of the clock of the machine, which a sample without a time has, the zero is the
 * first sample of the run. Times in ns.
 */
export const telemetryZero = (firstNs: bigint): bigint => (firstNs >= MACHINE_CLOCK_NS ? firstNs : 0n);
