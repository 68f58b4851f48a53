/**
 * A client that costs next to nothing: one kept-alive connection, one request at a time, written by hand. The client shares
 * two cores with what it measures; Node's own would take as much as the coordinator.
 */
import { connect, type Socket } from 'node:net';

export interface Answer {
  status: number;
  text: string;
}

export class Wire {
  readonly #socket: Socket;
  readonly #head: string;
  #received: Buffer[] = [];
  #bytes = 0;
  /** Of the answer in flight: where its body begins and where it ends; -1 until its head has arrived. */
  #bodyAt = -1;
  #endAt = -1;
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;

  private constructor(socket: Socket, port: number) {
    this.#socket = socket;
    this.#head = ` HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('the coordinator closed the connection')));
  }

  static open(port: number): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.off('error', reject);
        resolve(new Wire(socket, port));
      });
      socket.once('error', reject);
    });
  }

  /** Sends and waits for the answer; one at a time. */
  request(method: 'GET' | 'POST' | 'DELETE', path: string, body?: string): Promise<Answer> {
    if (this.#waiting !== undefined) throw new Error('one request at a time');
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      const head = `${method} ${path}${this.#head}`;
      this.#socket.write(
        body === undefined
          ? `${head}\r\n`
          : `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });
  }

  /** The body of a successful answer, as JSON. @throws when the status is not 200 */
  async post<T>(path: string, body: unknown): Promise<T> {
    const { status, text } = await this.request('POST', path, JSON.stringify(body));
    if (status !== 200) throw new Error(`POST ${path}: ${status} ${text.slice(0, 500)}`);
    return JSON.parse(text) as T;
  }

  async get<T>(path: string): Promise<T> {
    const { status, text } = await this.request('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${text.slice(0, 500)}`);
    return JSON.parse(text) as T;
  }

  async delete<T>(path: string): Promise<T> {
    const { status, text } = await this.request('DELETE', path);
    if (status !== 200) throw new Error(`DELETE ${path}: ${status} ${text.slice(0, 500)}`);
    return JSON.parse(text) as T;
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received.push(chunk);
    this.#bytes += chunk.length;
    if (this.#endAt < 0) this.#readHead();
    if (this.#endAt < 0 || this.#bytes < this.#endAt) return;
    const whole = this.#received.length === 1 ? (this.#received[0] as Buffer) : Buffer.concat(this.#received);
    const answer = { status: Number(whole.toString('latin1', 9, 12)), text: whole.toString('utf8', this.#bodyAt) };
    this.#received = [];
    this.#bytes = 0;
    this.#bodyAt = this.#endAt = -1;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(answer);
  }

  #readHead(): void {
    const start = this.#received.length === 1 ? (this.#received[0] as Buffer) : Buffer.concat(this.#received);
    this.#received = [start];
    const end = start.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = /\r\ncontent-length: (\d+)/i.exec(start.toString('latin1', 0, end + 2))?.[1];
    if (length === undefined) this.#waiting?.reject(new Error('an answer without Content-Length'));
    this.#bodyAt = end + 4;
    this.#endAt = this.#bodyAt + Number(length);
  }
}
