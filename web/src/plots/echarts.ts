/** The parts of echarts in use, loaded on demand. */
import { ParallelChart, ScatterChart } from 'echarts/charts';
import { GridComponent, ParallelComponent, TooltipComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';

use([ScatterChart, ParallelChart, GridComponent, ParallelComponent, TooltipComponent, CanvasRenderer]);

export { init };
export type { EChartsType } from 'echarts/core';
