/** The object store in memory as a program: prints its address. */
import { FakeS3 } from '../fake-s3.ts';

process.stdout.write((await FakeS3.start()).url);
