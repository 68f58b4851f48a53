/** `simbatch bridge`: serves a simulation as a model of the UM-Bridge protocol, so that its clients drive the pool. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { bridgeServer } from '../../bridge/server.ts';
import { PointsQueue } from '../../bridge/points-queue.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { connect, endpointOption, integerBetween } from '../../options.ts';
import { evaluating, evaluatorOf, namesOption, type EvaluatorFlags } from '../../points/evaluator-options.ts';
import { persist } from '../../points/persist.ts';
import { note, writeLine } from '../../terminal/output.ts';
import { explain } from './append.ts';
import { Command as Program } from 'commander';

interface BridgeFlags extends EvaluatorFlags {
  endpoint?: string;
  simulation: string;
  inputs: string[];
  outputs: string[];
  port: number;
  host: string;
  allowedHost?: string[];
}

/** The addresses that only programs of this machine reach. */
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

export function bridgeCommand(): Command {
  return evaluating(
    new Program('bridge')
      .description('serve a simulation to clients of UM-Bridge, until Ctrl-C')
      .addOption(endpointOption())
      .requiredOption('--simulation <name>', 'the name of the simulation, as runners have it; also that of the model')
      .addOption(
        namesOption('--inputs <names>', 'the parameters in the order of the input vector').makeOptionMandatory(),
      )
      .addOption(
        namesOption('--outputs <names>', 'the outputs in the order of the output vector').makeOptionMandatory(),
      ),
  )
    .option('--port <n>', 'the port to listen on; 0: any free one', integerBetween(0, 65_535), 4242)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .addOption(namesOption('--allowed-host <names>', 'host names by which clients call it, besides localhost'))
    .action(serve);
}

async function serve(flags: BridgeFlags): Promise<void> {
  const { simulation, inputs, outputs, port, host, allowedHost = [] } = flags;
  const twice = outputs.find((name, at) => outputs.indexOf(name) !== at);
  if (twice !== undefined) throw new Failure(EXIT.usage, `the output ${JSON.stringify(twice)} is given twice`);
  const client = await connect(flags);
  const evaluator = evaluatorOf(client, simulation, inputs, flags);
  const study = await persist(() => evaluator.study(), { repeating: note });
  const queue = new PointsQueue(evaluator, note);
  const isLocal = LOOPBACK.test(host);
  const server = bridgeServer(
    { name: simulation, inputs, outputs, evaluate: (row, signal) => queue.evaluate(row, signal) },
    { allowedHosts: [host, ...allowedHost], anyAddress: !isLocal },
  );
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw new Failure(EXIT.cannotOpen, `cannot listen on ${host}:${port}: ${(error as Error).message}`);
  });
  const { address, port: bound } = server.address() as AddressInfo;
  const shown = address.includes(':') ? `[${address}]` : address;
  await writeLine(`the model "${simulation}" is at http://${shown}:${bound}; its points are in study ${study}`);
  if (!isLocal) note(`warning: every program that reaches ${host} can start runs: the protocol has no credentials`);
  await explain(client, study, note);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  server.close();
  server.closeAllConnections();
}
