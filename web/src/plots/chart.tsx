/** A chart by echarts: loads the library on demand, follows its size, exposes the instance for events. */
import { useEffect, useRef } from 'react';
import type { EChartsType } from './echarts.ts';

interface Props {
  label: string;
  height: number;
  /** A new object redraws the chart. */
  option: Record<string, unknown>;
  onReady?: (chart: EChartsType) => void;
}

export function Chart({ label, height, option, onReady }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType>(undefined);
  const latest = useRef({ option, onReady });
  latest.current = { option, onReady };
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    let isGone = false;
    const observer = new ResizeObserver(() => chart.current?.resize());
    const show = async (): Promise<void> => {
      const { init } = await import('./echarts.ts');
      if (isGone) return;
      const made = init(element, undefined, { renderer: 'canvas' });
      chart.current = made;
      made.setOption(latest.current.option);
      latest.current.onReady?.(made);
      observer.observe(element);
    };
    void show();
    return () => {
      isGone = true;
      observer.disconnect();
      chart.current?.dispose();
      chart.current = undefined;
    };
  }, []);
  useEffect(() => {
    if (chart.current === undefined) return;
    chart.current.setOption(option, { notMerge: true });
  }, [option]);
  return <div ref={host} className="chart" role="img" aria-label={label} style={{ height }} />;
}
