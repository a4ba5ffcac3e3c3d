"""How it moves: `simulate`, one file per method, `Run` and its certificate."""

from holonomy.motion.events.event import Event as Event
from holonomy.motion.events.event_log import Events as Events
from holonomy.motion.methods.adaptive import Adaptive as Adaptive
from holonomy.motion.methods.base import AbstractMethod as AbstractMethod
from holonomy.motion.methods.event_driven import EventDriven as EventDriven
from holonomy.motion.methods.explicit import RK4 as RK4
from holonomy.motion.methods.explicit import Euler as Euler
from holonomy.motion.methods.gauss import Gauss as Gauss
from holonomy.motion.methods.radau import Radau as Radau
from holonomy.motion.methods.rattle import Rattle as Rattle
from holonomy.motion.methods.runge_kutta import AbstractRungeKutta as AbstractRungeKutta
from holonomy.motion.methods.runge_kutta import AbstractTableauMethod as AbstractTableauMethod
from holonomy.motion.methods.runge_kutta import Tableau as Tableau
from holonomy.motion.methods.splitting import Splitting as Splitting
from holonomy.motion.methods.splitting import Verlet as Verlet
from holonomy.motion.methods.symplectic_euler import SymplecticEuler as SymplecticEuler
from holonomy.motion.methods.taylor import Taylor as Taylor
from holonomy.motion.run.certificate import Certificate as Certificate
from holonomy.motion.run.load import load as load
from holonomy.motion.run.result import Result as Result
from holonomy.motion.run.result import SimulationError as SimulationError
from holonomy.motion.run.run import Run as Run
from holonomy.motion.simulate import simulate as simulate
from holonomy.motion.stepper import Stepper as Stepper
from holonomy.systems.result_code import Code as Code
